"""The Arrow schemas of the protocol's records, version 2.2, with their exact fields."""

from __future__ import annotations

import pyarrow as pa

TEXT = pa.string()
BYTES = pa.binary()
FLAG = pa.bool_()
NUMBER = pa.int64()
ENUM = pa.dictionary(pa.int16(), pa.string())
TEXTS = pa.list_(TEXT)
INDICES = pa.list_(pa.int32())
INDEX_GROUPS = pa.list_(INDICES)
BLOBS = pa.list_(BYTES)
LARGE_BLOBS = pa.list_(pa.large_binary())
TAGS = pa.map_(TEXT, TEXT)
SHARED_BYTES = pa.dictionary(pa.int32(), BYTES)


def required(name: str, type: pa.DataType) -> pa.Field:
    return pa.field(name, type, nullable=False)


def optional(name: str, type: pa.DataType) -> pa.Field:
    return pa.field(name, type)


def _struct(**fields: pa.DataType) -> pa.DataType:
    """Returns a struct type; a type given as a list of one is nullable."""
    return pa.struct([optional(n, t[0]) if isinstance(t, list) else required(n, t) for n, t in fields.items()])


_COPY_FROM = _struct(format=TEXT, file_path=TEXT, expected_schema=BYTES)
_COPY_TO = _struct(format=TEXT, file_path=TEXT)
_EXAMPLE = _struct(sql=TEXT, description=TEXT, expected_output=[TEXT])
_NAMED_VERSION = _struct(namespace=TEXT, name=TEXT, version=pa.uint64())
_FILTER_CONTEXT = _struct(profile=TEXT, provider_fingerprint=[TEXT])
_SECRET = _struct(secret_type=TEXT, scope=[TEXT], secret_name=[TEXT])
_RELEASE = _struct(version=TEXT, released_at=[pa.timestamp("us", "UTC")], summary=TEXT, notes_url=[TEXT])

ITEMS = pa.schema([required("items", BLOBS)])
"""The result of every listing: records, each as bytes."""

BIND_REQUEST = pa.schema(
    [
        required("function_name", TEXT),
        required("arguments", BYTES),
        required("function_type", ENUM),
        optional("input_schema", BYTES),
        optional("settings", BYTES),
        optional("secrets", BYTES),
        optional("attach_opaque_data", BYTES),
        optional("transaction_opaque_data", BYTES),
        required("resolved_secrets_provided", FLAG),
        optional("at_unit", TEXT),
        optional("at_value", TEXT),
        optional("copy_from", _COPY_FROM),
        optional("copy_to", _COPY_TO),
        optional("schema_path", TEXTS),
        optional("argument_names", TEXTS),
    ]
)
BIND_RESPONSE = pa.schema(
    [
        required("output_schema", BYTES),
        optional("opaque_data", BYTES),
        required("lookup_secret_types", TEXTS),
        required("lookup_scopes", TEXTS),
        required("lookup_names", TEXTS),
    ]
)
INIT_REQUEST = pa.schema(
    [
        required("bind_call", BYTES),
        required("output_schema", BYTES),
        optional("bind_opaque_data", BYTES),
        optional("projection_ids", pa.list_(NUMBER)),
        optional("pushdown_filters", pa.large_binary()),
        optional("join_keys", LARGE_BLOBS),
        optional("split_tokens", LARGE_BLOBS),
        optional("row_limit", NUMBER),
        optional("phase", ENUM),
        optional("finalize_state_id", BYTES),
        optional("execution_id", BYTES),
        optional("init_opaque_data", BYTES),
        optional("substream_id", BYTES),
        optional("order_by_column_name", TEXT),
        optional("order_by_direction", ENUM),
        optional("order_by_null_order", ENUM),
        optional("order_by_limit", NUMBER),
        optional("tablesample_percentage", pa.float64()),
        optional("tablesample_seed", NUMBER),
    ]
)
GLOBAL_INIT_RESPONSE = pa.schema(
    [required("execution_id", BYTES), optional("opaque_data", BYTES), required("max_workers", NUMBER)]
)
CARDINALITY_REQUEST = pa.schema([required("bind_call", BYTES), optional("bind_opaque_data", BYTES)])
CARDINALITY = pa.schema([optional("estimate", NUMBER), optional("max", NUMBER)])

CATALOG_INFO = pa.schema(
    [
        required("name", TEXT),
        optional("implementation_version", TEXT),
        optional("data_version_spec", TEXT),
        required("attach_option_specs", BLOBS),
        required("releases", pa.list_(_RELEASE)),
        optional("source_url", TEXT),
    ]
)
CATALOG_ATTACH_REQUEST = pa.schema(
    [
        required("name", TEXT),
        optional("options", BYTES),
        optional("data_version_spec", TEXT),
        optional("implementation_version", TEXT),
        optional("client_capabilities", BYTES),
    ]
)
CATALOG_CREATE_REQUEST = pa.schema([required("name", TEXT), required("on_conflict", ENUM), optional("options", BYTES)])
CATALOG_ATTACH_RESULT = pa.schema(
    [
        required("attach_opaque_data", BYTES),
        required("supports_transactions", FLAG),
        required("supports_time_travel", FLAG),
        required("catalog_version_frozen", FLAG),
        required("catalog_version", NUMBER),
        required("attach_opaque_data_required", FLAG),
        required("default_schema", TEXT),
        required("settings", BLOBS),
        required("secret_types", BLOBS),
        required("attach_catalogs", BLOBS),
        optional("comment", TEXT),
        required("tags", TAGS),
        required("supports_column_statistics", FLAG),
        required("global_functions", BLOBS),
        required("global_function_prefix", TEXT),
        optional("resolved_data_version", TEXT),
        optional("resolved_implementation_version", TEXT),
        required("supports_catalog_contents", FLAG),
    ]
)
CATALOG_VERSION = pa.schema([required("version", NUMBER)])
TRANSACTION_BEGIN = pa.schema([optional("transaction_opaque_data", BYTES)])

_DESCRIBED = [optional("comment", TEXT), required("tags", TAGS)]
SCHEMA_INFO = pa.schema(
    [*_DESCRIBED, required("path", TEXTS), optional("estimated_object_count", pa.map_(TEXT, NUMBER))]
)
VIEW_INFO = pa.schema(
    [
        *_DESCRIBED,
        required("name", TEXT),
        required("schema_path", TEXTS),
        required("definition", TEXT),
        required("column_comments", TAGS),
    ]
)
_CONSTRAINTS = [
    required("not_null_constraints", INDICES),
    required("unique_constraints", INDEX_GROUPS),
    required("check_constraints", TEXTS),
    required("primary_key_constraints", INDEX_GROUPS),
    required("foreign_key_constraints", BLOBS),
]
TABLE_INFO = pa.schema(
    [
        *_DESCRIBED,
        required("name", TEXT),
        required("schema_path", TEXTS),
        required("columns", BYTES),
        *_CONSTRAINTS,
        required("write_result_modes", TAGS),
        required("supports_column_statistics", FLAG),
        optional("scan_function", BYTES),
        optional("insert_function", BYTES),
        optional("update_function", BYTES),
        optional("delete_function", BYTES),
        optional("cardinality_estimate", NUMBER),
        optional("cardinality_max", NUMBER),
        optional("column_statistics", BYTES),
        optional("bind_result", BYTES),
        required("required_filters", pa.list_(TEXTS)),
    ]
)
TABLE_CREATE_REQUEST = pa.schema(
    [
        required("attach_opaque_data", BYTES),
        required("schema_path", TEXTS),
        required("name", TEXT),
        required("columns", BYTES),
        required("on_conflict", ENUM),
        *_CONSTRAINTS,
        optional("transaction_opaque_data", BYTES),
    ]
)
FUNCTION_INFO = pa.schema(
    [
        *_DESCRIBED,
        required("name", TEXT),
        required("schema_path", TEXTS),
        required("function_type", ENUM),
        required("arguments", SHARED_BYTES),
        required("output_schema", SHARED_BYTES),
        optional("parameter_default_values", SHARED_BYTES),
        optional("stability", ENUM),
        optional("null_handling", ENUM),
        optional("argument_monotonicity", TEXTS),
        required("description", TEXT),
        required("examples", pa.list_(_EXAMPLE)),
        required("categories", TEXTS),
        optional("projection_pushdown", FLAG),
        optional("filter_pushdown", FLAG),
        optional("sampling_pushdown", FLAG),
        optional("late_materialization", FLAG),
        required("filter_semantic_profiles", TEXTS),
        required("additional_filter_functions", pa.list_(_NAMED_VERSION)),
        required("runtime_filter_algorithms", pa.list_(_NAMED_VERSION)),
        required("filter_evaluation_contexts", pa.list_(_FILTER_CONTEXT)),
        optional("order_preservation", ENUM),
        optional("max_workers", pa.int32()),
        required("supports_batch_index", FLAG),
        required("supports_splits", FLAG),
        required("filters_exactly_applied", FLAG),
        required("supports_positions", FLAG),
        optional("split_token_ttl_seconds", NUMBER),
        required("partition_kind", ENUM),
        required("order_dependent", ENUM),
        required("distinct_dependent", ENUM),
        required("supports_window", FLAG),
        required("streaming_partitioned", FLAG),
        required("has_finalize", FLAG),
        required("source_order_dependent", FLAG),
        required("sink_order_dependent", FLAG),
        required("requires_input_batch_index", FLAG),
        required("input_from_args", FLAG),
        optional("input_rows_per_call", NUMBER),
        required("required_settings", TEXTS),
        required("required_secrets", pa.list_(_SECRET)),
    ]
)
SCAN_FUNCTION_RESULT = pa.schema(
    [
        required("function_name", TEXT),
        required("arguments", BYTES),
        required("required_extensions", TEXTS),
        optional("schema_path", TEXTS),
    ]
)
