import java.net.InetSocketAddress;
import org.apache.hadoop.hive.metastore.HiveMetaStore.HMSHandler;
import org.apache.hadoop.hive.metastore.RetryingHMSHandler;
import org.apache.hadoop.hive.metastore.TSetIpAddressProcessor;
import org.apache.hadoop.hive.metastore.conf.MetastoreConf;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TTransportFactory;

/** The metastore on the loopback address: PORT. Its own main of 3.1.3 listens on every interface. */
public final class ServeMetastore {
  private ServeMetastore() {}

  public static void main(String[] arguments) throws Exception {
    var configuration = MetastoreConf.newMetastoreConf();
    var handler = new HMSHandler("metastore", configuration, false);
    var retrying = RetryingHMSHandler.getProxy(configuration, handler, false);
    var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0]));
    var settings = new TThreadPoolServer.Args(new TServerSocket(address));
    settings.processor(new TSetIpAddressProcessor<>(retrying));
    settings.transportFactory(new TTransportFactory());
    settings.protocolFactory(new TBinaryProtocol.Factory());
    settings.minWorkerThreads(4);
    new TThreadPoolServer(settings).serve();
  }
}
