"""What runs on Spark. Every test here has a real one."""
