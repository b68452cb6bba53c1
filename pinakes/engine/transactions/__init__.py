"""Transactions (BEGIN … COMMIT): changes of tables of one catalog that become visible together. Start with
`transaction.py`.
"""
