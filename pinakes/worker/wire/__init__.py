"""The encoding of the VGI worker protocol: requests, responses, records, arguments, filters. Nothing here executes
anything.
"""
