"""The names of pyspark that pipelines build plans with. Import it within functions: it loads pyspark."""

from pyspark.sql.connect import functions
from pyspark.sql.connect.dataframe import DataFrame
from pyspark.sql.connect.functions import partitioning
from pyspark.sql.connect.observation import Observation
from pyspark.sql.connect.plan import LogicalPlan
from pyspark.sql.connect.session import SparkSession

__all__ = ["DataFrame", "LogicalPlan", "Observation", "SparkSession", "functions", "partitioning"]
