"""The names of pyspark.pipelines, by which Python files declare tables. Import it within functions, since it loads
pyspark.
"""

from pyspark.pipelines import output as outputs
from pyspark.pipelines.graph_element_registry import GraphElementRegistry, graph_element_registration_context

__all__ = ["GraphElementRegistry", "graph_element_registration_context", "outputs"]
