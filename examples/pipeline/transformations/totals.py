"""What was sold, by day and country, and by product."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pinakes.pipeline.expect import expect

spark = SparkSession.active()


@dp.materialized_view(comment="Orders and revenue of each day and country")
@expect("has_revenue", "revenue > 0", action="fail")
@expect("known_country", "country IS NOT NULL")
def daily_revenue() -> DataFrame:
    sales = spark.table("sales").withColumn("day", F.to_date("ordered_at"))
    return sales.groupBy("day", "country").agg(
        F.count("*").alias("orders"), F.sum("amount").cast("decimal(24, 2)").alias("revenue")
    )


@dp.materialized_view(comment="Orders and revenue of each product")
def products() -> DataFrame:
    return (
        spark.table("sales")
        .groupBy("product")
        .agg(F.count("*").alias("orders"), F.sum("amount").cast("decimal(24, 2)").alias("revenue"))
    )
