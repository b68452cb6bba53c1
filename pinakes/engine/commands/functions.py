"""SQL functions: CREATE and DROP FUNCTION."""

from __future__ import annotations

from dataclasses import replace

from pinakes.caches.caching_catalog import forget_catalog
from pinakes.core.catalog import SupportsNamespaceChanges
from pinakes.core.errors import (
    ColumnNotFound,
    FunctionExists,
    FunctionNotFound,
    InvalidArgument,
    NotFoundError,
    NotSupportedError,
    ParseError,
    PinakesError,
    listing,
)
from pinakes.core.names import Name, quote
from pinakes.engine.binding.namespaces import ResolvedNamespace
from pinakes.engine.binding.resolver import Resolver
from pinakes.engine.binding.sql_functions import SqlFunction, built_in, expand, find_function, stored_in
from pinakes.engine.datafusion.plan_schema import schema_of
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser import classify
from pinakes.parser.grammar.functions import definition
from pinakes.parser.keywords import RESERVED, TYPES
from pinakes.parser.lexer import tokenize
from pinakes.parser.splice import Edit, splice
from pinakes.parser.sql_functions import NO_FUNCTIONS, calls, parameter_tokens
from pinakes.parser.statements import CreateFunction, DropFunction, FunctionForm, Planned
from pinakes.parser.stored_functions import LONGEST, NAME, functions_in, keys_of, properties_of

_NOT_NAMES = RESERVED | TYPES | NO_FUNCTIONS
"""Names that stand before brackets with another meaning."""
_ROWS = "SELECT * FROM "


def create_function(statement: CreateFunction, execution: Execution) -> Result:
    """CREATE [OR REPLACE] [TEMP] FUNCTION | MACRO [IF NOT EXISTS] name (parameter [type] [DEFAULT value], …) [RETURNS
    type] RETURN expression | AS expression | AS TABLE query: creates an SQL function. A call is replaced by its body.

    A function is stored in its namespace, or with TEMP in the session. Functions of one name differ in the number of
    their parameters. The body is checked when the function is created, and reads tables with the rights of the caller.
    """
    resolver = execution.resolver
    place = resolver.function_place(statement.name, temporary=statement.temporary)
    name = statement.name.last.exact
    catalog = _changes(place)
    forget_catalog(catalog)
    _check_name(name, statement.name)
    known = stored_in(place).get(name, [])
    taken = [form for form in known if any(_overlap(form, new) for new in statement.forms)]
    if taken and statement.if_not_exists:
        return Result.done("CREATE FUNCTION")
    if taken and not statement.or_replace:
        raise FunctionExists(
            f"function {SqlFunction(place, name, ())} with {_counts(taken[0])} already exists; use CREATE OR REPLACE "
            f"FUNCTION, or IF NOT EXISTS"
        )
    for at, form in enumerate(statement.forms):
        if any(_overlap(form, other) for other in statement.forms[:at]):
            raise InvalidArgument(f"two forms of {name} take {_counts(form)}: their numbers of parameters must differ")
    kept = [form for form in known if form not in taken]
    forms = tuple(_qualified(form, statement.name, place, execution) for form in statement.forms)
    function = SqlFunction(place, name, tuple(sorted((*kept, *forms), key=lambda form: form.most)))
    for form in forms:
        _check_body(form, function, execution)
    properties = catalog.load_namespace(place.namespace)
    removals = {key for form in taken for key in keys_of(name, form.most, properties)}
    updates = {
        key: text for form in forms for key, text in properties_of(name, form.most, definition(name, form)).items()
    }
    if any(len(definition(name, form)) > LONGEST for form in forms):
        raise NotSupportedError(f"function {statement.name} is longer than {LONGEST:,} characters: split it")
    if functions_in(updates) != {name: sorted(forms, key=lambda form: form.most)}:
        raise NotSupportedError(f"the body of function {statement.name} can't be kept: write it in fewer words")
    removals |= {key for form in forms for key in keys_of(name, form.most, properties)}
    catalog.alter_namespace(place.namespace, updates, sorted(removals - set(updates)))
    return Result.done("CREATE FUNCTION")


def drop_function(statement: DropFunction, execution: Execution) -> Result:
    """DROP [TEMP] FUNCTION | MACRO [IF EXISTS] name [(type, …)]: drops an SQL function; with types, only the one with
    so many parameters."""
    resolver = execution.resolver
    try:
        place, name, forms = _stored(statement, resolver)
    except NotFoundError:
        if statement.if_exists:
            return Result.done("DROP FUNCTION")
        raise
    catalog = _changes(place)
    forget_catalog(catalog)
    properties = catalog.load_namespace(place.namespace)
    removals = {key for form in forms for key in keys_of(name, form.most, properties)}
    catalog.alter_namespace(place.namespace, {}, sorted(removals))
    return Result.done("DROP FUNCTION")


def _stored(statement: DropFunction, resolver: Resolver) -> tuple[ResolvedNamespace, str, list[FunctionForm]]:
    """Where a function is, its name there, and its forms that are meant."""
    name = resolver.as_temporary(statement.name) if statement.temporary else statement.name
    found = find_function(name, resolver)
    if found is None:
        place = resolver.function_place(name)
        raise FunctionNotFound(
            f"function {SqlFunction(place, name.last.exact, ())} does not exist; {place} has: "
            f"{listing(stored_in(place))}"
        )
    forms = [form for form in found.forms if statement.arguments in (None, form.most)]
    if not forms:
        raise FunctionNotFound(
            f"function {found} with {statement.arguments} parameters does not exist; there is one with "
            f"{' and one with '.join(str(form.most) for form in found.forms)}"
        )
    return found.place, found.name, forms


def _changes(place: ResolvedNamespace) -> SupportsNamespaceChanges:
    place.mount.check_writable()
    catalog = place.mount.catalog
    if place.mount.is_system or not place.namespace or not isinstance(catalog, SupportsNamespaceChanges):
        what = f"catalog '{place.mount.name}' (type {place.mount.type})"
        where = f"{what} has no namespace here to keep functions in" if not place.namespace else f"{what} keeps none"
        raise NotSupportedError(
            f"functions are kept in the properties of a namespace, and {where}: write CREATE TEMP FUNCTION, or name a "
            f"namespace of another catalog"
        )
    return catalog


def _check_name(name: str, written: Name) -> None:
    if NAME.fullmatch(name) is None:
        raise InvalidArgument(f"{written.last} can't name a function: use letters, digits and underscores")
    if name.lower() in built_in():
        raise FunctionExists(f"function {name} is built in: choose another name")
    if name.upper() in _NOT_NAMES:
        raise InvalidArgument(f"{written.last} can't name a function: it is a keyword")


def _overlap(one: FunctionForm, other: FunctionForm) -> bool:
    return one.fewest <= other.most and other.fewest <= one.most


def _counts(form: FunctionForm) -> str:
    count = str(form.most) if form.fewest == form.most else f"{form.fewest} to {form.most}"
    return f"{count} parameter{'s' * (count != '1')}"


# --- the body --------------------------------------------------------------------------------------------------------


def _as_query(form: FunctionForm) -> str:
    return form.body if form.is_table else f"SELECT {form.body}"


def _qualified(form: FunctionForm, written: Name, place: ResolvedNamespace, execution: Execution) -> FunctionForm:
    """The form with full names of tables and functions in its body, so that they mean the same to each caller."""
    resolver, is_private = execution.resolver, place.mount.is_private
    for parameter in form.parameters:
        if parameter.default is not None:
            _check_default(parameter.default, written)
    meant = parameter_tokens(form, written)
    text = _as_query(form)
    start = len(text) - len(form.body)
    statement = _classified(text, written)
    edits: list[Edit] = []
    names = {parameter.name.exact for parameter in form.parameters}
    for ref in statement.tables:
        if ref.call is not None or ref.name.is_path:
            continue
        if resolver.temporary(ref.name) is not None:
            if not is_private:
                raise _of_session(written, str(ref.name))
            continue
        found = resolver.find(ref.name)
        if found.place.mount.is_private and not is_private:
            raise _of_session(written, str(found))
        columns = {column.lower() for column in execution.planner().named(ref.name).columns}
        if both := sorted(names & columns):
            raise InvalidArgument(
                f"{both[0]} is a parameter of {written} and a column of {found}: give the parameter another name"
            )
        full = ".".join(map(quote, (found.place.mount.name, *found.place.namespace, found.name)))
        alias = f" AS {quote(ref.name.called)}" if ref.alias is None else ""
        edits.append(Edit(ref.span.start, ref.span.end, full + alias))
    tokens = tokenize(text)
    for call in calls(tokens):
        function = find_function(call.name, resolver)
        is_own = len(call.name.parts) == 1 and call.name.last.matches(written.last.exact)
        if function is None or is_own:
            continue
        if function.place.mount.is_private and not is_private:
            raise _of_session(written, str(function))
        full = ".".join(map(quote, (function.place.mount.name, *function.place.namespace, function.name)))
        edits.append(Edit(tokens[call.first].start, tokens[call.bracket - 1].end, full))
    if any(edit.start <= token.start + start < edit.end for edit in edits for token in meant):
        raise InvalidArgument(f"a parameter of {written} has the name of a table in it: choose another name")
    return replace(form, body=splice(text, edits).text[start:])


def _of_session(written: Name, what: str) -> InvalidArgument:
    return InvalidArgument(
        f"{what} belongs to this session: a function that outlives it can't use it. Write CREATE TEMP FUNCTION "
        f"{written}"
    )


def _check_default(text: str, written: Name) -> None:
    if any(token.kind == "parameter" for token in tokenize(text)):
        raise NotSupportedError(f"a default of {written} can't be a parameter of the statement")


def _check_body(form: FunctionForm, function: SqlFunction, execution: Execution) -> None:
    """Plans a call, as far as the types of the parameters are known."""
    given = [f"CAST(NULL AS {p.type})" if p.type else "NULL" for p in form.parameters]
    name = ".".join(map(quote, (function.place.mount.name, *function.place.namespace, function.name)))
    call = f"{name}({', '.join(given)})"
    statement = _classified(_ROWS + call if form.is_table else f"SELECT {call} AS x", Name.of(function.name))
    resolver = execution.resolver

    def find(name: Name) -> SqlFunction | None:
        is_own = name.last.matches(function.name) and function.place in resolver.function_places(name)
        return function if is_own else find_function(name, resolver)

    expanded = expand(statement, execution.session, find)
    assert expanded is not None
    checked = [expanded.statement]
    for parameter in form.parameters:
        if parameter.default is not None:
            value = f"CAST({parameter.default} AS {parameter.type})" if parameter.type else parameter.default
            checked.append(_classified(f"SELECT {value}", Name.of(function.name)))
    is_typed = all(p.type for p in form.parameters)
    try:
        for query in checked:
            schema_of(execution.planner().query(query).frame)
    except PinakesError as error:
        if not is_typed and not isinstance(error, NotFoundError | ParseError):
            return  # it may depend on the types of the arguments
        error.position = None
        if isinstance(error, ColumnNotFound):
            raise ColumnNotFound(
                f"in the body of function {function.name}: {error.message}. It reads its parameters, and columns of "
                f"tables that it names."
            ) from error
        raise


def _classified(text: str, written: Name) -> Planned:
    try:
        statement = classify(text)
    except PinakesError as error:
        error.position = None
        raise type(error)(f"the body of function {written} can't be read: {error.message}") from error
    if statement.kind != "Query" or not isinstance(statement, Planned) or not statement.parsed:
        raise ParseError(f"the body of function {written} can't be read: it is one expression, or a query after TABLE")
    return statement
