"""The VGI worker protocol as bytes: requests, answers, records, arguments, filters. Nothing here acts on a message."""
