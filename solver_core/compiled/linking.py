"""Late linking: a kernel is optimised once, with all that it calls.

Numba links into each function's module all that it calls, optimises that module and translates it to machine code,
callee by callee. A function at the bottom of ten others is optimised and translated ten times, and nine of the results
are never run. Here a part (``subkernel``) stays LLVM code that is not optimised, and a kernel links all the parts that
it reaches and is optimised once. The results are the same to the bit.

This file depends on private parts of Numba most of all: on ``JITCodeLibrary``, ``NativeLowering``, ``Flags``, the
typing context and the default pass list. ``versions`` says which releases it was tested with.
"""

import hashlib

from llvmlite.binding import Linkage
from numba import _dynfunc, config
from numba.core import cgutils, compiler, itanium_mangler, types, typing
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_machinery import register_pass
from numba.core.errors import UnsupportedError
from numba.core.typed_passes import NativeLowering

from .quick_numba import quick_numba


class _LateLibrary(JITCodeLibrary):
    """Code that is optimised when all of it is linked, and not function by function."""

    _is_begun = False

    def _optimize_functions(self, ll_module):
        ll_module.data_layout = self._codegen._data_layout

    def add_llvm_module(self, ll_module):
        """Add a module; the first one is taken as it is, and not linked into an empty one."""
        if self._is_begun or not config.LLVM_REFPRUNE_PASS:
            super().add_llvm_module(ll_module)
            return
        self._optimize_functions(ll_module)
        ll_module.name = self._final_module.name
        self._final_module, self._is_begun = ll_module, True


class PartLibrary(_LateLibrary):
    """Code of a subkernel: one module that waits to be linked into kernels."""

    def finalize(self):
        """Do nothing: the kernel links the callees."""
        self._raise_if_finalized()
        self._finalized = True

    def _get_module_for_linking(self):
        if not KernelLibrary.is_linking:
            # Its callees would be missing, and the process would crash at the first call.
            raise UnsupportedError(f"{self.name} is a subkernel: only kernels can call it")
        if self._shared_module is None:
            # nothing else is made of it, so Numba's copy is not needed
            for function in self._final_module.functions:
                if not function.is_declaration and function.linkage == Linkage.external:
                    function.linkage = "linkonce_odr"
            self._shared_module = self._final_module
        return self._shared_module


class KernelLibrary(_LateLibrary):
    """Code of a kernel, and of all parts that it reaches."""

    # Numba compiles one function at a time.
    is_linking = False

    def finalize(self):
        """Link, optimise and translate."""
        self._linking_libraries = _reached_from(self._linking_libraries)
        KernelLibrary.is_linking = True
        try:
            super().finalize()
        finally:
            KernelLibrary.is_linking = False


def _reached_from(libraries) -> list:
    """These libraries and, for those that have not linked their callees, also the callees; each once."""
    reached, waiting = {}, list(libraries)
    while waiting:
        library = waiting.pop(0)
        if library not in reached:
            reached[library] = True
            if isinstance(library, PartLibrary):
                waiting.extend(library._linking_libraries)
    return list(reached)


def _raise_if_references_are_lost(state) -> None:
    """Refuse calls that return arrays between a function that counts references and one that does not."""
    counts = bool(state.flags.nrt)

    def has_references(kind):
        return state.targetctx.data_model_manager[kind].contains_nrt_meminfo()

    if not counts and not state.flags.no_cpython_wrapper and has_references(state.return_type):
        raise UnsupportedError(f"{state.func_id.func_name} returns an array to Python, and is not declared to allocate")
    for expression, signature in state.calltypes.items():
        if getattr(expression, "op", None) != "call":
            continue
        callee = state.typemap[expression.func.name]
        if not isinstance(callee, types.Dispatcher) or not has_references(signature.return_type):
            continue
        if callee.dispatcher.targetoptions.get("_nrt", True) != counts:
            callee, caller = callee.dispatcher.py_func.__name__, state.func_id.func_name
            raise UnsupportedError(
                f"{callee} returns an array to {caller}, and only one of them is declared to allocate", expression.loc
            )


def _lowering(name, library_class, is_compiled):
    """Numba's last pass, lowering, with another class of library."""

    @register_pass(mutates_CFG=True, analysis_only=False)
    class Lowering(NativeLowering):
        _name = name

        def run_pass(self, state):
            _raise_if_references_are_lost(state)
            codegen = state.targetctx.codegen()
            state.library = library_class(codegen, state.func_id.func_qualname)
            state.library.enable_object_caching()
            if is_compiled:
                return super().run_pass(state)
            state.flags.no_compile = True
            super().run_pass(state)
            lowered = state["cr"]

            # A key by which callers find the function; there is no code for calls from Python.
            entry = _dynfunc.make_function(
                lowered.fndesc.lookup_module(), lowered.fndesc.qualname, "", 0, lowered.env, (state.library,)
            )
            state.targetctx.insert_user_function(entry, lowered.fndesc, [state.library])
            state["cr"] = lowered._replace(cfunc=entry)
            return True

    return Lowering


def insert_call_in_place(context, compiled):
    """Register calls of a compiled part that its code replaces.

    Parameters
    ----------
    context : Numba's target context
    compiled : Numba's compile result
        Of a part.

    Returns
    -------
    tuple
        A key by which callers find such calls.
    """
    made = compiled.fndesc

    def emit(context, builder, signature, arguments):
        callee = context.declare_function(builder.module, made)
        status, result = context.call_conv.call_function(
            builder, callee, made.restype, made.argtypes, arguments, attrs=("alwaysinline",)
        )
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    emit.signature, emit.libs = made.argtypes, (compiled.library,)
    key = "in place", compiled.entry_point
    context.insert_func_defn([(emit, key, emit.signature)])
    return key


class _QuickFlags(compiler.Flags):
    """Numba's options of a function, compared quickly.

    Numba compares and hashes them some hundred times a line of source, and its own class makes a table of all options
    each time: a tenth of the time to compile.
    """

    _HASH = hash(compiler.Flags())

    def __hash__(self):
        return self._HASH

    def __eq__(self, other):
        if not isinstance(other, compiler.Flags):
            return NotImplemented
        mine, others = self._values, other._values
        if mine == others:
            return True
        # One that is not set has its default.
        return all(getattr(self, name) == getattr(other, name) for name in {**mine, **others})


class _QuickContext(typing.Context):
    """Numba's typing context, which resolves the signature of an operator once, and not at each use of it.

    The signature depends on the types of the arguments only. To go through all candidates at each use is a tenth of the
    time to compile.
    """

    _found = {}

    def __init__(self, context):
        self.__dict__ = context.__dict__

    def resolve_function_type(self, func, args, kws):
        if kws or type(func) is not types.Function:
            return super().resolve_function_type(func, args, kws)
        key = func, tuple(args)
        if key not in self._found:
            found = super().resolve_function_type(func, args, kws)
            if found is None:
                return None
            self._found[key] = found
        return self._found[key]


def _short_symbol(name, kinds, *, abi_tags=(), uid=None):
    """The name of a function in compiled code, with a hash of the types of its arguments.

    Numba writes the types out: for the arrays of a step 15,000 characters, in every place that names the function.
    That made three quarters of the machine code's files, and 4 % of the time to compile.
    """
    digest = hashlib.sha256(str(kinds).encode()).hexdigest()[:16]
    return itanium_mangler.mangle(name, (), abi_tags=(*abi_tags, digest), uid=uid)


def _pipeline(lowering):
    """Numba's compiler pipeline with another last pass."""

    class Pipeline(compiler.CompilerBase):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.state.flags = _QuickFlags(self.state.flags)
            self.state.typingctx = _QuickContext(self.state.typingctx)
            # this context is a copy for one compilation
            self.state.targetctx.mangler = _short_symbol

        def _compile_core(self):
            with quick_numba():
                return super()._compile_core()

        def define_pipelines(self):
            passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.add_pass_after(lowering, NativeLowering)
            passes.passes = [entry for entry in passes.passes if entry[0] is not NativeLowering]
            passes.finalize()
            return [passes]

    return Pipeline


KernelPipeline = _pipeline(_lowering("cairn_kernel_lowering", KernelLibrary, True))
PartPipeline = _pipeline(_lowering("cairn_part_lowering", PartLibrary, False))
