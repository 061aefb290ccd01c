"""Prints what the installed openai package can call and the types that it calls
with, as JSON: see sdk.go for the shape. It reads and imports, it calls nothing."""

import importlib
import inspect
import json
import pkgutil
import re
import sys
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pydantic
import typing_extensions

import openai
import openai.resources

SCOPE = tuple(sys.argv[1].split(","))
TYPES = {}
UNIONS = {Union, getattr(__import__("types"), "UnionType", Union)}


def named(cls):
    name = cls.__name__
    key = cls.__module__ + "." + name
    if key not in TYPES:
        TYPES[key] = None
        TYPES[key] = {"name": name, "fields": fields(cls)}
    return {"kind": "object", "object": key}


def fields(cls):
    out = {}
    if inspect.isclass(cls) and issubclass(cls, pydantic.BaseModel):
        for name, f in cls.model_fields.items():
            out[f.alias or name] = {"type": expr(f.annotation), "required": f.is_required()}
        return out
    hints = typing_extensions.get_type_hints(cls, include_extras=True)
    for name, hint in hints.items():
        alias, needed = name, cls.__total__
        for part in walk(hint):
            if part in (typing_extensions.Required, typing_extensions.NotRequired):
                needed = part is typing_extensions.Required
            else:
                alias = getattr(part, "alias", None) or alias
        out[alias] = {"type": expr(hint), "required": needed}
    return out


def walk(hint):
    if get_origin(hint) is Annotated:
        for part in get_args(hint)[1:]:
            yield part
        yield from walk(get_args(hint)[0])
    elif get_origin(hint) in (typing_extensions.Required, typing_extensions.NotRequired):
        yield get_origin(hint)
        yield from walk(get_args(hint)[0])


def expr(t):
    if isinstance(t, typing_extensions.TypeAliasType):
        return expr(t.__value__)
    origin, args = get_origin(t), get_args(t)
    if origin is Annotated or origin in (typing_extensions.Required, typing_extensions.NotRequired):
        return expr(args[0])
    if origin is Literal:
        if any(isinstance(a, bool) for a in args):
            return {"kind": "bool"}
        return {"kind": "words", "words": [str(a) for a in args]}
    if origin in UNIONS:
        return {"kind": "union", "of": [expr(a) for a in args]}
    if t is None or t is type(None):
        return {"kind": "null"}
    if origin is not None:
        name = getattr(origin, "__name__", str(origin))
        if name in ("list", "Iterable", "Sequence", "SequenceNotStr"):
            return {"kind": "list", "of": [expr(args[0])]}
        if name in ("dict", "Mapping"):
            return {"kind": "map", "of": [expr(args[1])]}
        return {"kind": "any"}
    if t is str:
        return {"kind": "string"}
    if t in (int, float, bool):
        return {"kind": t.__name__}
    if inspect.isclass(t) and issubclass(t, pydantic.BaseModel) and t is not pydantic.BaseModel:
        return named(t)
    if typing_extensions.is_typeddict(t):
        return named(t)
    return {"kind": "any"}


VERBS = {"_get": "GET", "_post": "POST", "_delete": "DELETE", "_patch": "PATCH", "_put": "PUT", "_get_api_list": "GET"}
CALL = re.compile(r'self\.(_get_api_list|_get|_post|_delete|_patch|_put)\(\s*(?:path_template\(\s*)?f?"(/[^"]*)"')


def resolve(name, module):
    value = vars(module)
    for part in name.split("."):
        value = value[part] if isinstance(value, dict) else getattr(value, part)
    return value


def after(source, word, module):
    """The type of parameters that the source transforms behind body= or query=."""
    m = re.search(word + r"=(?:await )?(?:async_)?maybe_transform\(.*?(\w+_params\.\w+)", source, re.S)
    return expr(resolve(m.group(1), module)) if m else None


def operation(name, fn, module):
    source = inspect.getsource(fn)
    m = CALL.search(source)
    if not m or not m.group(2).startswith(SCOPE):
        return None
    verb = VERBS[m.group(1)]
    if re.search(r'method="post"', source):
        verb = "POST"
    source = source[m.start():]
    op = {"name": name, "method": verb, "path": m.group(2)}
    op["body"], op["query"] = after(source, "body", module), after(source, "query", module)
    cast = re.search(r"page=\w+\[(\w+)\]", source)
    if cast:
        op["list"] = expr(resolve(cast.group(1), module))
    else:
        cast = re.search(r"cast_to=(?:cast\(\s*Any,\s*)?(\w+)", source)
        if cast and cast.group(1) not in ("NoneType", "object", "str"):
            op["answer"] = expr(resolve(cast.group(1), module))
    stream = re.search(r"stream_cls=(?:Agent\w*|Assistant\w*)?Stream\[(\w+)\]", source)
    if stream:
        op["events"] = expr(resolve(stream.group(1), module))
    return {k: v for k, v in op.items() if v is not None}


def main():
    ops = []
    for info in pkgutil.walk_packages(openai.resources.__path__, "openai.resources."):
        module = importlib.import_module(info.name)
        for cls in vars(module).values():
            if not inspect.isclass(cls) or cls.__module__ != module.__name__ or cls.__name__.startswith("Async"):
                continue
            if not issubclass(cls, openai._resource.SyncAPIResource):
                continue
            for name, fn in vars(cls).items():
                if inspect.isfunction(fn):
                    op = operation(info.name.removeprefix("openai.resources.") + "." + name, fn, module)
                    if op:
                        ops.append(op)
    json.dump({"sdk": "python", "version": openai.__version__, "operations": ops, "types": TYPES}, sys.stdout)


main()
