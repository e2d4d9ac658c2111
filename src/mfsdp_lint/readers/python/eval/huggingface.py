"""Model providers that depend on a Hugging Face model: one of the registered ones.

`AutoBridge.from_hf_pretrained(name)` reads the model's config.json to pick a bridge class, whose `provider_bridge`
makes the provider (Megatron-Bridge, models/conversion/auto_bridge.py and model_bridge.py, 0.2.0 to head). The file is
not at hand when linting, so the provider is one of those that the registered bridges make: a field on which they
agree is known, and so is one that the file decides if the model's published sizes say it (megatron/published).

Which providers these are depends on upstream's source alone, and takes longer than all else of a recipe. So it is
worked out once for all interpreters of a run, by one of its own, and rebuilt in others from what that made. The result
holds while no text that was read for it differs. A program that changes upstream's modules, or an environment that
they look at, gets an answer of its own.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache, partial
from typing import Any

from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.detect.present import declared
from mfsdp_lint.inputs.sources import Shared
from mfsdp_lint.megatron.published import divisor_of_vocabulary, published
from mfsdp_lint.readers.python.eval.classes import enum_members, lookup
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.calling import evaluate, invoke
from mfsdp_lint.readers.python.state.copies import template
from mfsdp_lint.readers.python.state.interpreter import Interpreter, remembered
from mfsdp_lint.readers.python.state.paths import CannotJoin, Dependencies, OutOfSteps, Raised
from mfsdp_lint.readers.python.state.trees import nodes_in
from mfsdp_lint.readers.python.state.truth import join
from mfsdp_lint.readers.python.values.code import Call, classes_of
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED, MODEL_ID
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    ClassObject,
    DictObject,
    EnumMember,
    External,
    Frame,
    Function,
    Instance,
    ListObject,
    Module,
    Native,
    Object,
    Partial,
    Unknown,
    Write,
    is_constant,
)

ARCHITECTURES: tuple[tuple[str, str], ...] = (
    ("meta-llama/Llama-3.2-*Vision*", "MllamaForConditionalGeneration"),
    ("meta-llama/Llama-2-*", "LlamaForCausalLM"),
    ("meta-llama/Llama-3.*", "LlamaForCausalLM"),
    ("meta-llama/Meta-Llama-3*", "LlamaForCausalLM"),
    ("Qwen/Qwen2-Audio-*", "Qwen2AudioForConditionalGeneration"),
    ("Qwen/Qwen2-VL-*", "Qwen2VLForConditionalGeneration"),
    ("Qwen/Qwen2-57B-A14B*", "Qwen2MoeForCausalLM"),
    ("Qwen/Qwen2-*B*", "Qwen2ForCausalLM"),
    ("Qwen/Qwen2.5-VL-*", "Qwen2_5_VLForConditionalGeneration"),
    ("Qwen/Qwen2.5-Omni-*", "Qwen2_5OmniModel"),
    ("Qwen/Qwen2.5-*B*", "Qwen2ForCausalLM"),
    ("Qwen/Qwen3-Next-*", "Qwen3NextForCausalLM"),
    ("Qwen/Qwen3-Omni-*", "Qwen3OmniMoeForConditionalGeneration"),
    ("Qwen/Qwen3-VL-*-A*B*", "Qwen3VLMoeForConditionalGeneration"),
    ("Qwen/Qwen3-VL-*B*", "Qwen3VLForConditionalGeneration"),
    ("Qwen/Qwen3-*-A*B*", "Qwen3MoeForCausalLM"),
    ("Qwen/Qwen3-[0-9]*B*", "Qwen3ForCausalLM"),
    ("Qwen/Qwen3.5-*-A*B*", "Qwen3_5MoeForConditionalGeneration"),
    ("Qwen/Qwen3.5-[0-9]*B*", "Qwen3_5ForConditionalGeneration"),
    ("google/gemma-[27]b*", "GemmaForCausalLM"),
    ("google/gemma-2-*", "Gemma2ForCausalLM"),
    ("google/gemma-3-1b-*", "Gemma3ForCausalLM"),
    ("google/gemma-3-*b-*", "Gemma3ForConditionalGeneration"),
    ("google/gemma-4-*", "Gemma4ForConditionalGeneration"),
    ("deepseek-ai/DeepSeek-V2*", "DeepseekV2ForCausalLM"),
    ("deepseek-ai/DeepSeek-V3", "DeepseekV3ForCausalLM"),
    ("deepseek-ai/DeepSeek-V3-*", "DeepseekV3ForCausalLM"),
    ("deepseek-ai/DeepSeek-R1", "DeepseekV3ForCausalLM"),
    ("deepseek-ai/DeepSeek-V4-*", "DeepseekV4ForCausalLM"),
    ("moonshotai/Moonlight-16B-A3B*", "DeepseekV3ForCausalLM"),
    ("moonshotai/Kimi-K2-*", "DeepseekV3ForCausalLM"),
    ("moonshotai/Kimi-K2.5*", "KimiK25ForConditionalGeneration"),
    ("openai/gpt-oss-*", "GptOssForCausalLM"),
    ("zai-org/GLM-4.5V*", "Glm4vMoeForConditionalGeneration"),
    ("zai-org/GLM-4.5*", "Glm4MoeForCausalLM"),
    ("zai-org/GLM-5*", "GlmMoeDsaForCausalLM"),
    ("MiniMaxAI/MiniMax-M3", "MiniMaxM3SparseForConditionalGeneration"),
    ("LGAI-EXAONE/EXAONE-4.0-*", "Exaone4ForCausalLM"),
    ("LGAI-EXAONE/EXAONE-4.5-*", "Exaone4_5_ForConditionalGeneration"),
    ("LGAI-EXAONE/K-EXAONE-*", "ExaoneMoeForCausalLM"),
    ("stepfun-ai/Step-3.5-*", "Step3p5ForCausalLM"),
    ("stepfun-ai/Step-3.7-*", "Step3p7ForConditionalGeneration"),
    ("mistralai/Mistral-7B-*", "MistralForCausalLM"),
    ("mistralai/Ministral-3-*-2512", "Mistral3ForConditionalGeneration"),
    ("nvidia/NVIDIA-Nemotron-Nano-*-v2-VL-*", "NemotronH_Nano_VL_V2"),
    ("nvidia/NVIDIA-Nemotron-Nano-*-v2*", "NemotronHForCausalLM"),
    ("nvidia/Nemotron-H-*", "NemotronHForCausalLM"),
    ("nvidia/NVIDIA-Nemotron-3-*", "NemotronHForCausalLM"),
    ("nvidia/NVIDIA-Nemotron-3.5-*", "NemotronHForCausalLM"),
    ("nvidia/Nemotron-3-Nano-Omni-*", "NemotronH_Nano_Omni_Reasoning_V3"),
    ("allenai/OLMoE-1B-7B-*", "OlmoeForCausalLM"),
)


def architecture(model: str) -> str | None:
    """Return the architecture of a model by its id ("meta-llama/Llama-3.2-1B"), or None if it is not listed."""
    return next((name for pattern, name in ARCHITECTURES if fnmatchcase(model, pattern)), None)


AUTO_BRIDGE = "AutoBridge"
PROVIDER_METHODS = {"to_megatron_provider": "provider_bridge", "get_model_config": "hf_config_to_model_config"}
REGISTRY = "register_bridge"
_ID = "hf_model_id"


def model_of(function: Function) -> Callable[..., Object] | None:
    """Return the model of an AutoBridge method whose result depends on a Hugging Face configuration; None else."""
    if not isinstance(function.cls, ClassObject) or function.cls.name != AUTO_BRIDGE:
        return None
    if function.name.startswith("from_hf_") or function.name == "from_auto_config":
        return _bridge
    if function.name in PROVIDER_METHODS:
        return _provider
    return None


def _bridge(interp: Interpreter, function: Function, arguments: list[Object], node: Any, frame: Frame) -> Object:
    assert function.cls is not None
    bridge = Instance(function.cls, interp.tick(), interp.note(node, frame, None, "default", None, None))
    pretrained = interp.unknown("hf_pretrained", not_none=True)
    bridge.fields["hf_pretrained"] = pretrained
    bridge.writes[MAY_HAVE_CHANGED] = True  # its other attributes are not known
    model = arguments[1] if len(arguments) > 1 else None
    pretrained.fields[MODEL_ID] = model if isinstance(model, str) else None
    return bridge


def tokenizer_of(interp: Interpreter, call: Call) -> Object:
    """Return the tokenizer that `AutoTokenizer.from_pretrained` makes: unknown, but for the model it belongs to."""
    tokenizer = interp.unknown("tokenizer", not_none=True)
    tokenizer.fields[MODEL_ID] = call.arguments[0] if call.arguments else None
    return tokenizer


def length_of_tokenizer(value: Object) -> int | None:
    """Return the number of words of a tokenizer that is as its model was published: nothing of it was used, which
    might add some. Return None if that is not known.
    """
    fields = value.fields if isinstance(value, Unknown) else {}
    model = fields.get(MODEL_ID) if len(fields) == 1 else None
    known = published().get(model) if isinstance(model, str) else None
    return None if known is None else known.tokenizer


def _provider(interp: Interpreter, function: Function, arguments: list[Object], node: Any, frame: Frame) -> Object:
    model = _model_id(arguments) if arguments else ""
    wanted = architecture(model)
    in_doubt = bool(interp.path.environment.writes.get(MAY_HAVE_CHANGED))
    key = ("provider", function.module.path, function.name, wanted, in_doubt)
    ready = interp.memo.get(key)
    if ready is None:
        ready = template(provider_template(interp, function, wanted, in_doubt), since=1)
        interp.memo[key] = ready
    made = ready.make(interp, {})
    if isinstance(made, Instance):
        _size(interp, made, model, _release(interp, function))
    if function.name == "to_megatron_provider":
        elsewhere = len(arguments) > 2 or any(each.arg in ("hf_path", None) for each in getattr(node, "keywords", ()))
        _identify(interp, made, "" if elsewhere else model)
    return interp.unknown("provider", not_none=True) if made is None else made


def _identify(interp: Interpreter, made: Object, model: str) -> None:
    """Write a model's id into what may be its provider; it is not known where the weights are named apart from it.

    Source: `to_megatron_provider` in models/conversion/auto_bridge.py, 0.2.0:775 to 0.6.0:1710.
    """
    for provider in made.options if isinstance(made, Choice) else (made,):
        if isinstance(provider, Instance) and _ID in provider.fields:
            _set(provider, _ID, model or interp.unknown(f"model.{_ID}"))


def _release(interp: Interpreter, function: Function) -> str | None:
    """Return the release of the package that the AutoBridge class belongs to; None if it does not say it."""
    if function.module.upstream is not None:
        return function.module.upstream.rpartition(" ")[2]
    package = os.path.dirname(os.path.dirname(os.path.dirname(function.module.path)))
    return declared(_text(interp, os.path.join(package, "package_info.py")))


def _size(interp: Interpreter, provider: Instance, model: str, release: str | None) -> None:
    """Give a new provider the published sizes of its model, where nothing but the hub decides them."""
    known = published().get(model)
    if known is None:
        return
    sizes = known.sizes_in(release)
    if isinstance(words := sizes.get("vocab_size"), int):
        sizes["make_vocab_size_divisible_by"] = divisor_of_vocabulary(words)
    inner = provider.fields.get("transformer")  # a part of a model configuration of its own, from 0.4.2 on
    owners = [provider, *([inner] if isinstance(inner, Instance) else [])]
    for name, size in sizes.items():
        for owner in owners:
            if _is_sealed(owner.fields.get(name), name):
                _set(owner, name, _size_object(interp, size))


def _set(provider: Instance, name: str, value: Object) -> None:
    """Give a new provider another value of a field, which stands where the field's own does."""
    provider.fields[name] = value
    if (write := provider.writes.get(name)) is not None:
        provider.writes[name] = write._replace(value=value)


def _size_object(interp: Interpreter, size: Any) -> Object:
    match size:
        case list():
            return ListObject(list(size), interp.tick())
        case {"one_of": [*sizes]}:
            return Choice(tuple(sizes))
        case _:
            constant: Object = size
            return constant


def _is_sealed(value: Object, name: str) -> bool:
    """Tell whether the Hugging Face configuration decides a field of a provider (see `_seal`)."""
    options = value.options if isinstance(value, Choice) else (value,)
    return any(isinstance(each, Unknown) and each.text == f"model.{name}" for each in options)


@remembered()
def provider_template(interp: Interpreter, function: Function, wanted: str | None, in_doubt: bool = False) -> Object:
    """Return the provider that the AutoBridge method `function` makes for an architecture (None: for any), to be
    copied. `in_doubt` says that something out of sight may have set variables of the environment.

    Returns None where none is known.
    """
    assert function.cls is not None
    if function.cls.data:
        return function.cls.data.provider(function.name, wanted)
    return shared_provider(interp, function, wanted, partial(_one_of, wanted=wanted, in_doubt=in_doubt), in_doubt)


def _model_id(arguments: list[Object]) -> str:
    bridge = arguments[0]
    pretrained = bridge.fields.get("hf_pretrained") if isinstance(bridge, Instance) else None
    model = pretrained.fields.get(MODEL_ID) if isinstance(pretrained, Unknown) else None
    return model if isinstance(model, str) else ""


@remembered()
def _one_of(interp: Interpreter, function: Function, wanted: str | None, in_doubt: bool) -> Object:
    candidates = _registered(interp, function)
    if wanted is not None:
        named = [cls for cls in _registered(interp, function, wanted) if wanted in _sources(interp, cls)]
        if not named:
            return _one_of(interp, function, None, in_doubt)
        candidates = iter(named)
    found: list[Instance] = []
    for cls in candidates:
        provider = _made(interp, cls, PROVIDER_METHODS[function.name], in_doubt)
        found.extend(
            option
            for option in (provider.options if isinstance(provider, Choice) else (provider,))
            if isinstance(option, Instance)
        )
    if not found:
        return None
    made = merged(interp, found)
    _seal(made, set())
    return made


def _seal(provider: Instance, seen: set[int]) -> None:
    """Make what a provider takes from the Hugging Face configuration plain unknowns, the same in every copy of it."""
    seen.add(id(provider))
    for name, value in provider.fields.items():
        options = value.options if isinstance(value, Choice) else (value,)
        if any(map(_is_open, options)):
            there = [each for each in options if each is not MISSING]
            certain = all(each is not None and (not isinstance(each, Unknown) or each.not_none) for each in there)
            sealed = Unknown(0, f"model.{name}", certain)
            provider.fields[name] = sealed if len(there) == len(options) else Choice((MISSING, sealed))
        elif isinstance(value, Instance) and id(value) not in seen:
            _seal(value, seen)


def _is_open(value: Object) -> bool:
    """Tell whether something in a value is unknown: itself, or the items of a list."""
    if isinstance(value, ListObject):
        return value.items is None or any(isinstance(each, Unknown) for each in value.items)
    return isinstance(value, Unknown)


def _made(interp: Interpreter, cls: ClassObject, method: str, in_doubt: bool) -> Object:
    """Return the provider that a bridge makes; None where none is known.

    Doubts about the environment make another one only where a function asks for a variable: modules are imported
    before anything could have set one.
    """
    writes = interp.path.environment.writes
    doubts = writes.pop(MAY_HAVE_CHANGED, None)
    made, asks = _made_in(interp, cls, method, False)
    if doubts is not None:
        writes[MAY_HAVE_CHANGED] = doubts
    return _made_in(interp, cls, method, True)[0] if in_doubt and asks else made


@remembered()
def _made_in(interp: Interpreter, cls: ClassObject, method: str, in_doubt: bool) -> tuple[Object, bool]:
    """Return the provider that a bridge makes with or without such doubts, and whether it asks for any variable."""
    source, _ = lookup(interp, cls, method)
    if not isinstance(source, Function):
        return None, False
    made: Object = None
    dependencies = Dependencies()
    interp.skimming += 1
    try:
        with interp.aside():
            interp.dependencies = dependencies
            pretrained = interp.unknown("hf_pretrained", not_none=True)
            made = invoke(interp, source, Call([Instance(cls, 0), pretrained], {}, None, Frame(cls.module)))
    except (Raised, CannotJoin, OutOfSteps, RecursionError):
        pass
    finally:
        interp.skimming -= 1
    return made, dependencies.depends_on_start


def merged(interp: Interpreter, found: list[Instance]) -> Instance:
    """Merge objects into one object that may be any of them."""
    if len(found) == 1:
        return found[0]
    classes: list[Object] = []
    for one in found:
        for cls in classes_of(one):
            if not any(cls is known for known in classes):
                classes.append(cls)
    made = Instance(found[0].cls if len(classes) == 1 else Choice(tuple(classes)), interp.tick(), found[0].made)
    names = dict.fromkeys(name for one in found for name in one.fields)
    for name in names:
        values = [one.fields.get(name, MISSING) for one in found]
        made.fields[name] = _joined(interp, values)
        writes = [one.writes[name] for one in found if name in one.writes]
        if writes and len(writes) == len(found):
            made.writes[name] = writes[0]
    return made


def _joined(interp: Interpreter, values: list[Object]) -> Object:
    if all(value is values[0] for value in values):
        return values[0]
    nested = [value for value in values if isinstance(value, Instance)]
    if len(nested) == len(values) and len({id(value) for value in nested}) > 1:
        return merged(interp, nested)
    return join(interp, values)


def _registered(interp: Interpreter, function: Function, word: str = "") -> Iterator[ClassObject]:
    """Yield the bridge classes of the package that the AutoBridge class belongs to, in the order of their files.

    With `word`, yield only those of files that contain it.
    """
    package = os.path.dirname(os.path.dirname(function.module.path))
    key = ("registering files", package)
    if key not in interp.memo:
        texts = ((path, _text(interp, path)) for path in _python_files(package))
        interp.memo[key] = [(path, text) for path, text in texts if REGISTRY in text]
    for path, text in interp.memo[key]:
        module = interp.finder.load_for(function.module.path, path) if word in text else None
        if module is not None:
            yield from _classes(interp, module)


def _sources(interp: Interpreter, cls: ClassObject) -> set[str]:
    """Return the names of the Hugging Face classes that a bridge class is registered for."""
    return {
        _class_name(interp, keyword.value, cls)
        for name, call in _registrations(cls.module.tree)
        if name == cls.name
        for keyword in call.keywords
        if keyword.arg == "source"
    }


@cache
def _registrations(tree: ast.Module) -> list[tuple[str, ast.Call]]:
    """Return the calls that register a bridge class of a module, with its name: each decorates the class, or is called
    with it.
    """
    found: list[tuple[str, ast.Call]] = []
    for node in nodes_in(tree, saying=REGISTRY):
        match node:
            case ast.ClassDef(name=name, decorator_list=registering):
                found += [(name, each) for each in registering if _registers(each) and isinstance(each, ast.Call)]
            case ast.Call(func=ast.Call() as call, args=[ast.Name(id=name)]) if _registers(call):
                found.append((name, call))
    return found


def _registers(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == REGISTRY


def _class_name(interp: Interpreter, node: ast.expr, cls: ClassObject) -> str:
    try:
        value = evaluate(interp, node, Frame(cls.module))
    except Raised:
        return ""
    return value if isinstance(value, str) else str(getattr(value, "name", "")).rpartition(".")[2]


def _python_files(folder: str) -> Iterator[str]:
    for above, _, files in disk.walk(folder):
        yield from (os.path.join(above, name) for name in files if name.endswith(".py"))


def _text(interp: Interpreter, path: str) -> str:
    try:
        return interp.finder.sources.text(path)
    except Exception:
        return ""


def _classes(interp: Interpreter, module: Module) -> Iterator[ClassObject]:
    for name in dict.fromkeys(name for name, _ in _registrations(module.tree)):
        cls = resolve_global(interp, module, name)
        if isinstance(cls, ClassObject):
            yield cls


_MOST_ENVIRONMENTS = 3
"""Variables of the environment may decide which others are looked at."""

Work = Callable[[Interpreter, Function], Object]
"""Works out the provider that a method makes, in an interpreter; None where none is known."""


class NotPortable(Exception):
    """A value that only the interpreter that made it can have."""


@dataclass(frozen=True, slots=True, eq=False)
class _Provider:
    """A provider as an interpreter of its own worked it out; None where other interpreters cannot have it.

    `files` were imported for it, of which some were `asked_for`. With `opens`, facts of the
    release were needed. Variables of the environment were looked at by the code that is `asking`.
    """

    value: Object
    is_portable: bool
    dependencies: Dependencies = field(default_factory=Dependencies)
    files: frozenset[str] = frozenset()
    asked_for: frozenset[str] = frozenset()
    opens: bool = False
    asking: Mapping[str, Mapping[ast.AST, Module]] = field(default_factory=dict)


def shared_provider(
    interp: Interpreter, method: Function, wanted: str | None, work: Work, in_doubt: bool = False
) -> Object:
    """Return the provider that a method of AutoBridge makes for an architecture (None: for any).

    `work` is asked once for all interpreters of the run, if upstream is the same for all of them.
    """
    if interp.followed or interp.within_functions or interp.patches_upstream or interp.module_level:
        return work(interp, method)
    finder = interp.finder
    options = (interp.knowledge.targets, interp.tracing, tuple(finder.search_path))
    variables: dict[str, Object] = {}
    for _ in range(_MOST_ENVIRONMENTS):
        key = ("upstream by itself", *options, tuple(sorted(variables.items())))
        shared = finder.sources.shared(key, interp.anew)
        provider = _provider_of(shared, variables, interp, method, wanted, work, in_doubt)
        if provider is not None and (asked := finder.asked_among(provider.files)) != provider.asked_for:
            # The first interpreter was asked for other files of upstream's, which are treated otherwise.
            shared = finder.sources.shared((*key, asked), interp.anew)
            provider = _provider_of(shared, variables, interp, method, wanted, work, in_doubt)
        if provider is None or not _is_alike(interp, provider, shared):
            return work(interp, method)
        fields = interp.path.environment.fields
        given = {name: fields[name] for name in provider.dependencies.variables if name in fields}
        if given.items() <= variables.items():
            break
        if not all(map(is_constant, given.values())):
            return work(interp, method)
        variables |= given
    else:
        return work(interp, method)
    try:
        value = _Rebuilding(interp, method.module.path).rebuild(provider.value)
    except NotPortable:
        return work(interp, method)
    if provider.opens:
        interp.knowledge.use()
    interp.takes_from_target = True
    interp.shared_dependencies.add(provider.dependencies)
    for name in provider.dependencies.variables:
        interp.module_variables.setdefault(name, interp.path.environment.fields.get(name, MISSING))
    for name, scopes in provider.asking.items():
        interp.asked_for.setdefault(name, {}).update(scopes)
    finder.sources.note(shared.texts)
    for path in shared.texts:
        if path.endswith(".py"):
            finder.note_use(finder.spellings.get(path, path), method.module.path)
    return value


def _provider_of(
    shared: Shared[Interpreter],
    variables: Mapping[str, Object],
    interp: Interpreter,
    method: Function,
    wanted: str | None,
    work: Work,
    in_doubt: bool,
) -> _Provider | None:
    """Return the provider as the shared interpreter has it; None where `interp` has to work it out itself."""
    alone = shared.result
    key = ("provider by itself", method.module.path, method.name, wanted, in_doubt)
    if alone is interp:
        return None
    if key not in alone.memo:
        with alone.finder.sources.reading_for(shared):
            # A path of its own, so that what its code forgets is there again for the next provider.
            alone.begin(())
            alone.path.environment.fields.update(variables)
            if in_doubt:
                alone.path.environment.writes[MAY_HAVE_CHANGED] = True
            alone.memo[key] = _worked_out(alone, method, work, in_doubt)
            alone.finish()
    found: _Provider = alone.memo[key]
    return found if found.is_portable else None


def _is_alike(interp: Interpreter, provider: _Provider, shared: Shared[Interpreter]) -> bool:
    """Tell whether an interpreter would make the same provider.

    The first texts were those of another one, which may have read files for it that are different here.
    """
    finder = interp.finder
    return finder.asked_among(provider.files) == provider.asked_for and finder.sources.has(shared.texts)


def _worked_out(alone: Interpreter, method: Function, work: Work, in_doubt: bool) -> _Provider:
    module = alone.finder.load(method.module.path)
    cls = None if module is None or method.cls is None else resolve_global(alone, module, method.cls.name)
    own = lookup(alone, cls, method.name)[0] if isinstance(cls, ClassObject) else None
    if not isinstance(own, Function):
        return _Provider(None, is_portable=False)
    # A copy: what other providers share with it is undone, and changed again.
    value = template(work(alone, own)).make(alone, {})
    # What only some programs are given would make the provider theirs alone.
    dependencies = Dependencies()
    dependencies.add(alone.dependencies)
    dependencies.add(alone.shared_dependencies)
    files = frozenset(alone.finder.by_path)
    asking = alone.asked_for
    if in_doubt:  # (what is open is asked for by modules alone)
        asking = {name: scopes for name, scopes in asking.items() if any(isinstance(at, ast.Module) for at in scopes)}
    return _Provider(
        value,
        not dependencies.asks_start,
        dependencies,
        files,
        alone.finder.asked_among(files),
        alone.knowledge.is_used,
        asking,
    )


@dataclass(slots=True, eq=False)
class _Rebuilding:
    """A value of one interpreter that is made again in another one; modules are found from the file `importer`."""

    interp: Interpreter
    importer: str
    made: dict[int, Object] = field(default_factory=dict)
    orders: dict[int, int] = field(default_factory=dict)
    in_write: int = 0

    def rebuild(self, value: Object) -> Object:
        """Make the value again. Raises NotPortable."""
        orders: set[int] = set()
        _find_orders(value, orders, set())
        # Writes keep their order among each other, and come after all that was written here before.
        self.orders = {order: self.interp.tick() for order in sorted(orders)}
        return self._rebuilt(value)

    def _rebuilt(self, value: Object) -> Object:
        if value is MISSING or is_constant(value) or isinstance(value, (External, Native)):
            return value
        # A write shows that a value is not known; nobody asks for its parts there.
        if isinstance(value, Unknown) and (value.fields or value.writes) and not self.in_write:
            raise NotPortable
        if id(value) not in self.made:
            self.made[id(value)] = self._made_of(value)
        return self.made[id(value)]

    def _made_of(self, value: Object) -> Object:
        match value:
            case tuple():
                return tuple(map(self._rebuilt, value))
            case Choice(of=None):
                return Choice(tuple(map(self._rebuilt, value.options)), is_selection=value.is_selection)
            case ClassObject():
                return self._of_module(value.module, value.name, ClassObject)
            case Function(cls=None):
                return self._of_module(value.module, value.name, Function)
            case EnumMember():
                cls = self._of_module(value.cls.module, value.cls.name, ClassObject)
                assert isinstance(cls, ClassObject)
                return enum_members(self.interp, cls)[value.name]
            case Unknown() if type(value) is Unknown:
                return Unknown(value.born and self.interp.tick(), value.text, value.not_none, value.obstacle)
            case Partial():
                function, arguments = self._rebuilt(value.function), list(map(self._rebuilt, value.arguments))
                keywords = {name: self._rebuilt(each) for name, each in value.keywords.items()}
                return Partial(function, arguments, keywords, value.made, method=value.method)
            case ListObject() if type(value) is ListObject:
                items = value.items
                return ListObject(None if items is None else list(map(self._rebuilt, items)), self.interp.tick())
            case DictObject(view_of=None):
                return self._filled(value, DictObject({}, self.interp.tick()))
            case Instance():
                cls = self._rebuilt(value.cls)
                assert isinstance(cls, (ClassObject, Choice, External))
                return self._filled(value, Instance(cls, self.interp.tick()))
        raise NotPortable

    def _filled(self, value: Instance | DictObject, made: Instance | DictObject) -> Object:
        self.made[id(value)] = made
        made.made = self._written(value.made)
        made.fields = {key: self._rebuilt(each) for key, each in value.fields.items()}
        made.writes = {key: self._written(each) for key, each in value.writes.items()}
        return made

    def _written(self, write: Write | None) -> Write | None:
        if write is None:
            return None
        if not isinstance(write, Write):
            raise NotPortable
        self.in_write += 1
        value = self._rebuilt(write.value)
        self.in_write -= 1
        return write._replace(value=value, order=self.orders[write.order], earlier=self._written(write.earlier))

    def _of_module(self, there: Module, name: str, kind: type) -> Object:
        interp = self.interp
        if there.upstream is None:
            module = interp.finder.load_for(self.importer, there.path)
        else:
            module = interp.knowledge.module(interp, there.name)
        found = None if module is None else resolve_global(interp, module, name)
        if not isinstance(found, kind):
            raise NotPortable
        return found


def _find_orders(value: Object, found: set[int], seen: set[int]) -> None:
    if id(value) in seen or not isinstance(value, (Instance, DictObject, ListObject, Choice, tuple)):
        return
    seen.add(id(value))
    parts: Iterable[Object]
    match value:
        case Instance() | DictObject():
            parts = value.fields.values()
            for write in (value.made, *value.writes.values()):
                while isinstance(write, Write):
                    found.add(write.order)
                    _find_orders(write.value, found, seen)
                    write = write.earlier
        case ListObject():
            parts = value.items or ()
        case Choice():
            parts = value.options
        case _:
            parts = value
    for part in parts:
        _find_orders(part, found, seen)
