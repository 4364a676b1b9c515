// RUN: tile-opt %s --verify-diagnostics --parsing-diagnostics --split-input-file | filecheck %s

// CHECK: expected a role (group, local, serial, unroll, vector), got warp
nest.for %i : warp to 4 {
}

// -----

// CHECK: expected local.x, local.y, local.z, got local
nest.for %i : local to 4 {
}

// -----

// CHECK: expected serial, got serial.x
nest.for %i : serial.x to 4 {
}

// -----

// CHECK: the step of a nest.for is at least 1
nest.for %i = 4 to 8 step 0 : serial {
}

// -----

// CHECK: a loop with role unroll has a known number of steps
%n = "test.op"() : () -> index
nest.for %i : unroll to %n {
}

// -----

// CHECK: the local.x loop must stand outside the loops of a work-item
nest.for %i : serial to 4 {
  nest.for %j : local.x to 4 {
  }
}

// -----

// CHECK: d1 is none of the 1 index operands
%i = "test.op"() : () -> index
%p = "nest.index"(%i) <{expr = #nest.exprs<d0 + d1>}> : (index) -> index

// -----

// CHECK: a nest.for has a lower end, an upper end and a step
"nest.for"() <{bounds = #nest.exprs<0, 4>, role = #nest.role<serial>}> ({
^bb0(%i: index):
}) : () -> ()

// -----

// CHECK: the body of a nest.for takes the index
"nest.for"() <{bounds = #nest.exprs<0, 4, 1>, role = #nest.role<serial>}> ({
^bb0:
}) : () -> ()

// -----

// CHECK: a nest.buffer is a memref
%b = nest.buffer : tensor<4xf32>

// -----

// CHECK: nest.load has 1 index for a memref of rank 2
%A = "test.op"() : () -> memref<4x4xf32>
%a = nest.load %A[0] : memref<4x4xf32>

// -----

// CHECK: nest.load of f64 on elements of f32
%A = "test.op"() : () -> memref<4xf32>
%a = nest.load %A[0] : memref<4xf32>, f64

// -----

// CHECK: the value after `else` has the type of the loaded one
%A, %x = "test.op"() : () -> (memref<4xf32>, f64)
%a = "nest.load"(%A, %x) <{access = #nest.exprs<0>, operandSegmentSizes = array<i32: 1, 0, 1>}> : (memref<4xf32>, f64) -> f32

// -----

// CHECK: nest.store of i32 on elements of f32
%A, %x = "test.op"() : () -> (memref<4xf32>, i32)
nest.store %x, %A[0] : i32, memref<4xf32>

// -----

// CHECK: nest.store accesses a memref
%A, %x = "test.op"() : () -> (tensor<4xf32>, f32)
nest.store %x, %A[0] : f32, tensor<4xf32>

// -----

// CHECK: nest.copy copies 4, 8 or 16 bytes, not 12
%A, %B, %i = "test.op"() : () -> (memref<64xf32, 1 : i32>, memref<32xf32, 3 : i32>, index)
nest.copy 3 %A[%i] to %B[%i] : memref<64xf32, 1 : i32>, memref<32xf32, 3 : i32>

// -----

// CHECK: mma_m16n8k8_tf32 has no operand 1 that is loaded by rows along n
%A, %i = "test.op"() : () -> (memref<8x8xf32, 3 : i32>, index)
%f:2 = nest.fragment mma_m16n8k8_tf32 operand 1 along n %A[%i, %i] : memref<8x8xf32, 3 : i32>

// -----

// CHECK: nest.fragment cannot read memref<16x8xf16, 3 : i32> so
%A, %i = "test.op"() : () -> (memref<16x8xf16, 3 : i32>, index)
%f:4 = nest.fragment mma_m16n8k8_tf32 operand 0 along k %A[%i, %i] : memref<16x8xf16, 3 : i32>

// -----

// CHECK: a nest.fragment has no condition
%A, %i = "test.op"() : () -> (memref<16x8xf32, 3 : i32>, index)
%f:4 = nest.fragment mma_m16n8k8_tf32 operand 0 along k %A[%i, 0] if %i < 8 : memref<16x8xf32, 3 : i32>

// -----

// CHECK: a sub-group has a power of two of work-items, not 24
%x = "test.op"() : () -> f32
%y = nest.shuffle %x xor 4 in 24 : f32

// -----

// CHECK: no two of 16 work-items differ by 16
%x = "test.op"() : () -> f32
%y = nest.shuffle %x xor 16 in 16 : f32

// -----

// CHECK: nest.shuffle exchanges numbers, not i1
%x = "test.op"() : () -> i1
%y = nest.shuffle %x xor 1 in 16 : i1

// -----

// CHECK: arith.extui takes and gives vectors of as many lanes
%x = "test.op"() : () -> vector<4xi8>
%y = arith.extui %x : vector<4xi8> to vector<8xi32>

// -----

// CHECK: operand 'cond' at position 0 does not verify
%m, %x = "test.op"() : () -> (vector<4xi32>, vector<4xf32>)
%y = arith.select %m, %x, %x : vector<4xi32>, vector<4xf32>

// -----

// CHECK: nest.prefetch has 1 index for a memref of rank 2
%A = "test.op"() : () -> memref<4x4xf32>
nest.prefetch %A[0] : memref<4x4xf32>

// -----

// CHECK: memref.prefetch has 1 indices of 2
%B, %j = "test.op"() : () -> (memref<4x4xf32>, index)
memref.prefetch %B[%j], read, locality<3>, data : memref<4x4xf32>

// -----

// CHECK: a nest.prefetch has no condition
%A, %i = "test.op"() : () -> (memref<4xf32>, index)
nest.prefetch %A[0] if %i < 2 : memref<4xf32>

// -----

// CHECK: a nest.load reads a memref
%A = "test.op"() : () -> vector<4xf32>
%x = nest.load %A[0] : vector<4xf32>

// -----

// CHECK: mma_m16n8k8_tf32 has other registers
%A, %i = "test.op"() : () -> (memref<16x8xf32, 3 : i32>, index)
%f:2 = "nest.fragment"(%A, %i) <{instruction = "mma_m16n8k8_tf32", operand = 0 : i64, axis = "k", access = #nest.exprs<d0, 0>}> : (memref<16x8xf32, 3 : i32>, index) -> (f32, f32)

// -----

// CHECK: mma_m16n8k8_tf32 has registers f32, f32, f32, f32, not f32
%x = "test.op"() : () -> f32
%s = "nest.instruction"(%x, %x) <{instruction = "mma_m16n8k8_tf32", operandSegmentSizes = array<i32: 1, 1>}> : (f32, f32) -> f32

// -----

// CHECK: a nest.call stands in a kernel
"gpu.module"() <{sym_name = "m"}> ({
  nest.call @first() :
  "gpu.func"() <{function_type = () -> ()}> ({
    "gpu.return"() : () -> ()
  }) {sym_name = "first"} : () -> ()
}) : () -> ()

// -----

// CHECK: there is no kernel @second
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32>) -> ()}> ({
  ^bb0(%A: memref<8xf32>):
    nest.call @second(%A) : memref<8xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "all", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.known_grid_size = array<i32: 3, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<8xf32>) -> ()}> ({
  ^bb0(%B: memref<8xf32>):
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.known_grid_size = array<i32: 3, 1, 1>} : () -> ()
}) : () -> ()

// -----

// CHECK: @first takes (memref<8xf32>), not (memref<8xf32>, memref<8xf32>)
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32>) -> ()}> ({
  ^bb0(%A: memref<8xf32>):
    nest.call @first(%A, %A) : memref<8xf32>, memref<8xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "all", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.known_grid_size = array<i32: 3, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<8xf32>) -> ()}> ({
  ^bb0(%B: memref<8xf32>):
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.known_grid_size = array<i32: 3, 1, 1>} : () -> ()
}) : () -> ()

// -----

// CHECK: @all calls kernels itself
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32>) -> ()}> ({
  ^bb0(%A: memref<8xf32>):
    nest.call @all(%A) : memref<8xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "all", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.known_grid_size = array<i32: 3, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<8xf32>) -> ()}> ({
  ^bb0(%B: memref<8xf32>):
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.known_grid_size = array<i32: 3, 1, 1>} : () -> ()
}) : () -> ()

// -----

// CHECK: @all calls kernels, but has other ops, too
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32>) -> ()}> ({
  ^bb0(%A: memref<8xf32>):
    %x = nest.load %A[0] : memref<8xf32>
    nest.call @first(%A) : memref<8xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "all", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.known_grid_size = array<i32: 3, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<8xf32>) -> ()}> ({
  ^bb0(%B: memref<8xf32>):
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.known_grid_size = array<i32: 3, 1, 1>} : () -> ()
}) : () -> ()

// -----

// CHECK: the work-groups of @first do not make whole ones of @all
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32>) -> ()}> ({
  ^bb0(%A: memref<8xf32>):
    nest.call @first(%A) : memref<8xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "all", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.known_grid_size = array<i32: 3, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<8xf32>) -> ()}> ({
  ^bb0(%B: memref<8xf32>):
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 3, 1, 1>, gpu.known_grid_size = array<i32: 4, 1, 1>} : () -> ()
}) : () -> ()

// -----

// CHECK: the work-groups of @first do not make whole ones of @all
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32>) -> ()}> ({
  ^bb0(%A: memref<8xf32>):
    nest.call @first(%A) : memref<8xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "all", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.known_grid_size = array<i32: 3, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<8xf32>) -> ()}> ({
  ^bb0(%B: memref<8xf32>):
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 2, 1, 1>, gpu.known_grid_size = array<i32: 3, 1, 1>} : () -> ()
}) : () -> ()

// -----

// CHECK: the work-groups of @first do not make whole ones of @all
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32>) -> ()}> ({
  ^bb0(%A: memref<8xf32>):
    nest.call @first(%A) : memref<8xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "all", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.known_grid_size = array<i32: 3, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<8xf32>) -> ()}> ({
  ^bb0(%B: memref<8xf32>):
    "gpu.return"() : () -> ()
  }) {sym_name = "first"} : () -> ()
}) : () -> ()

// -----

// CHECK: @all has not the work-groups of the kernels that it calls
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32>) -> ()}> ({
  ^bb0(%A: memref<8xf32>):
    nest.call @first(%A) : memref<8xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "all", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.known_grid_size = array<i32: 3, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<8xf32>) -> ()}> ({
  ^bb0(%B: memref<8xf32>):
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.known_grid_size = array<i32: 2, 1, 1>} : () -> ()
}) : () -> ()
