"""Tests of the system tables that SQL alone can not say: which calls they make, and what becomes of failing ones."""
