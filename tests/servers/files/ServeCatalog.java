import java.net.InetSocketAddress;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;

/** Any Iceberg catalog over REST, on the loopback address: PORT, then its properties as KEY=VALUE. */
public final class ServeCatalog {
  private ServeCatalog() {}

  public static void main(String[] arguments) throws Exception {
    Map<String, String> properties = new TreeMap<>();
    for (String pair : java.util.Arrays.asList(arguments).subList(1, arguments.length)) {
      int equals = pair.indexOf('=');
      properties.put(pair.substring(0, equals), pair.substring(equals + 1));
    }
    String name = properties.remove("catalog-name");
    var adapter = new RESTCatalogAdapter(CatalogUtil.buildIcebergCatalog(name, properties, new Configuration()));
    var handler = new ServletContextHandler(ServletContextHandler.NO_SESSIONS);
    handler.addServlet(new ServletHolder(new RESTCatalogServlet(adapter)), "/*");
    var jetty = new Server(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])));
    jetty.setHandler(handler);
    jetty.start();
    jetty.join();
  }
}
