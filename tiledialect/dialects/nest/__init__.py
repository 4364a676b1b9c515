"""The nest dialect: a kernel as loops with roles over named indices.

Text of MLIR in, verified ops out. Read `control` first, then `memory`.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from tiledialect.dialects.nest.asynchronous import CommitOp, CopyOp, WaitOp
from tiledialect.dialects.nest.attributes import ConditionAttr, ExprsAttr, RoleAttr
from tiledialect.dialects.nest.call import CallOp
from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.dialects.nest.indexed import IndexOp
from tiledialect.dialects.nest.instruction import FragmentOp, InstructionOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.dialects.nest.prefetch import PrefetchOp
from tiledialect.dialects.nest.sub_group import ShuffleOp

Nest = Dialect(
    "nest",
    [
        ForOp,
        IfOp,
        BufferOp,
        LoadOp,
        StoreOp,
        IndexOp,
        InstructionOp,
        FragmentOp,
        ShuffleOp,
        CommitOp,
        WaitOp,
        CopyOp,
        PrefetchOp,
        CallOp,
    ],
    [RoleAttr, ExprsAttr, ConditionAttr],
)
