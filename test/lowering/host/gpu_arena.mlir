// RUN: tile-opt %s -p gpu-arena --split-input-file | filecheck %s

// What lives at different times has the same place, through reshapes too; what is returned, and
// what is given, has an allocation of its own.
// CHECK:      func.func @chain
// CHECK-NEXT:   %arena = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<768xi8, 1 : i32>
// CHECK-NEXT:   %0 = arith.constant 0 : index
// CHECK-NEXT:   %1 = arith.constant 256 : index
// CHECK-NEXT:   %2 = arith.constant 512 : index
// CHECK-NEXT:   %x = memref.view %arena[%0][] : memref<768xi8, 1 : i32> to memref<50xf32, 1 : i32>
// CHECK-NEXT:   "gpu.memcpy"(%x, %a)
// CHECK-NEXT:   %r = memref.reinterpret_cast %x
// CHECK-NEXT:   %y = memref.view %arena[%1][] : memref<768xi8, 1 : i32> to memref<50xf32, 1 : i32>
// CHECK-NEXT:   "gpu.memcpy"(%y, %r)
// CHECK-NEXT:   %b = memref.view %arena[%0][]
// CHECK-NEXT:   "gpu.memcpy"(%b, %y)
// CHECK-NEXT:   %z = memref.view %arena[%2][] : memref<768xi8, 1 : i32> to memref<50xf32, 1 : i32>
// CHECK-NEXT:   "gpu.memcpy"(%z, %b)
// CHECK-NEXT:   "gpu.memcpy"(%z, %y)
// CHECK-NEXT:   %o = "gpu.alloc"()
// CHECK-NEXT:   "gpu.memcpy"(%o, %z)
// CHECK-NEXT:   "gpu.dealloc"(%arena)
// CHECK-NEXT:   func.return %o
func.func @chain(%a: memref<50xf32, 1 : i32>) -> memref<50xf32, 1 : i32> {
  %x = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<50xf32, 1 : i32>
  "gpu.memcpy"(%x, %a) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<50xf32, 1 : i32>, memref<50xf32, 1 : i32>) -> ()
  %r = "memref.reinterpret_cast"(%x) <{static_offsets = array<i64: 0>, static_sizes = array<i64: 50>, static_strides = array<i64: 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (memref<50xf32, 1 : i32>) -> memref<50xf32, 1 : i32>
  %y = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<50xf32, 1 : i32>
  "gpu.memcpy"(%y, %r) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<50xf32, 1 : i32>, memref<50xf32, 1 : i32>) -> ()
  "gpu.dealloc"(%x) {operandSegmentSizes = array<i32: 0, 1>} : (memref<50xf32, 1 : i32>) -> ()
  %b = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<50xf32, 1 : i32>
  "gpu.memcpy"(%b, %y) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<50xf32, 1 : i32>, memref<50xf32, 1 : i32>) -> ()
  %z = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<50xf32, 1 : i32>
  "gpu.memcpy"(%z, %b) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<50xf32, 1 : i32>, memref<50xf32, 1 : i32>) -> ()
  "gpu.memcpy"(%z, %y) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<50xf32, 1 : i32>, memref<50xf32, 1 : i32>) -> ()
  "gpu.dealloc"(%y) {operandSegmentSizes = array<i32: 0, 1>} : (memref<50xf32, 1 : i32>) -> ()
  %o = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<50xf32, 1 : i32>
  "gpu.memcpy"(%o, %z) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<50xf32, 1 : i32>, memref<50xf32, 1 : i32>) -> ()
  func.return %o : memref<50xf32, 1 : i32>
}

// -----

// The device says where a part may begin, and how large an allocation can be.
// CHECK:      func.func @limits
// CHECK-NEXT:   %arena = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<512xi8, 1 : i32>
// CHECK-NEXT:   %arena_1 = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<512xi8, 1 : i32>
// CHECK-NEXT:   %0 = arith.constant 0 : index
// CHECK-NEXT:   %x = memref.view %arena[%0][]
// CHECK-NEXT:   %y = memref.view %arena_1[%0][]
// CHECK-NEXT:   "gpu.memcpy"(%x, %y)
// CHECK-NEXT:   "gpu.dealloc"(%arena)
// CHECK-NEXT:   "gpu.dealloc"(%arena_1)
builtin.module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"buffer_alignment" = 512 : i64, "max_mem_alloc_size" = 600 : i64>>} {
  func.func @limits() {
    %x = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<50xf32, 1 : i32>
    %y = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<50xf32, 1 : i32>
    "gpu.memcpy"(%x, %y) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<50xf32, 1 : i32>, memref<50xf32, 1 : i32>) -> ()
    func.return
  }
}

// -----

// A kernel that is given a part of an allocation of several is told where that begins.
// CHECK:      "gpu.func"() <{function_type = (memref<50xf32, 1 : i32>, memref<50xf32, 1 : i32>) -> (), kernel}> ({
// CHECK:      }) {sym_name = "add", tile.parts = array<i32: 0, 1>} : () -> ()
builtin.module {
  "gpu.module"() <{sym_name = "kernels"}> ({
    "gpu.func"() <{function_type = (memref<50xf32, 1 : i32>, memref<50xf32, 1 : i32>) -> (), kernel}> ({
    ^bb0(%a: memref<50xf32, 1 : i32>, %b: memref<50xf32, 1 : i32>):
      "gpu.return"() : () -> ()
    }) {sym_name = "add"} : () -> ()
  }) : () -> ()
  func.func @told(%a: memref<50xf32, 1 : i32>) {
    %one = arith.constant 1 : index
    %x = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<50xf32, 1 : i32>
    %y = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<50xf32, 1 : i32>
    "gpu.launch_func"(%one, %one, %one, %one, %one, %one, %a, %x) <{kernel = @kernels::@add, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<50xf32, 1 : i32>, memref<50xf32, 1 : i32>) -> ()
    "gpu.launch_func"(%one, %one, %one, %one, %one, %one, %x, %y) <{kernel = @kernels::@add, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<50xf32, 1 : i32>, memref<50xf32, 1 : i32>) -> ()
    func.return
  }
}

// -----

// What a kernel copies side by side lies in its result from the start, and lives as long; a piece of
// it lies in it. The kernels are left out, but where one copies to an argument.
// CHECK-NOT:  sym_name = "join"
// CHECK:      sym_name = "skip"
// CHECK:      func.func @beside
// CHECK-DAG:     %[[A:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[B:.*]] = arith.constant 128 : index
// CHECK:         %x = memref.view %arena[%[[A]]][] : memref<256xi8, 1 : i32> to memref<32xf32, 1 : i32>
// CHECK-NEXT:    %y = memref.view %arena[%[[B]]][] : memref<256xi8, 1 : i32> to memref<32xf32, 1 : i32>
// CHECK-NEXT:    %z = memref.view %arena[%[[A]]][] : memref<256xi8, 1 : i32> to memref<64xf32, 1 : i32>
// CHECK-NEXT:    %p = memref.view %arena[%[[B]]][] : memref<256xi8, 1 : i32> to memref<32xf32, 1 : i32>
// CHECK-NEXT:    "gpu.launch_func"({{.*}}, %z, %q) <{kernel = @kernels::@skip
// CHECK-NEXT:    "gpu.memcpy"(%p, %q)
builtin.module {
  "gpu.module"() <{sym_name = "kernels"}> ({
    "gpu.func"() <{function_type = (memref<32xf32, 1 : i32>, memref<32xf32, 1 : i32>, memref<64xf32, 1 : i32>) -> (), kernel}> ({
    ^bb0(%a: memref<32xf32, 1 : i32>, %b: memref<32xf32, 1 : i32>, %c: memref<64xf32, 1 : i32>):
      "gpu.return"() : () -> ()
    }) {sym_name = "join"} : () -> ()
    "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>, memref<32xf32, 1 : i32>) -> (), kernel}> ({
    ^bb0(%a: memref<64xf32, 1 : i32>, %b: memref<32xf32, 1 : i32>):
      "gpu.return"() : () -> ()
    }) {sym_name = "skip"} : () -> ()
  }) : () -> ()
  func.func @beside(%q: memref<32xf32, 1 : i32>) {
    %one = arith.constant 1 : index
    %x = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<32xf32, 1 : i32>
    %y = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<32xf32, 1 : i32>
    %z = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<64xf32, 1 : i32>
    %p = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<32xf32, 1 : i32>
    "gpu.launch_func"(%one, %one, %one, %one, %one, %one, %x, %y, %z) <{kernel = @kernels::@join, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 3, 0>}> {nest.beside = array<i64: 0, 32, 0>} : (index, index, index, index, index, index, memref<32xf32, 1 : i32>, memref<32xf32, 1 : i32>, memref<64xf32, 1 : i32>) -> ()
    "gpu.launch_func"(%one, %one, %one, %one, %one, %one, %z, %p) <{kernel = @kernels::@skip, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> {nest.beside = array<i64: -32, 0>} : (index, index, index, index, index, index, memref<64xf32, 1 : i32>, memref<32xf32, 1 : i32>) -> ()
    "gpu.launch_func"(%one, %one, %one, %one, %one, %one, %z, %q) <{kernel = @kernels::@skip, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> {nest.beside = array<i64: -32, 0>} : (index, index, index, index, index, index, memref<64xf32, 1 : i32>, memref<32xf32, 1 : i32>) -> ()
    "gpu.memcpy"(%p, %q) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<32xf32, 1 : i32>, memref<32xf32, 1 : i32>) -> ()
    func.return
  }
}

// -----

// A simulator watches every allocation.
// CHECK:      func.func @watched
// CHECK-NEXT:   %x = "gpu.alloc"()
// CHECK-NEXT:   "gpu.dealloc"(%x)
builtin.module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"type" = "simulator">>} {
  func.func @watched() {
    %x = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<50xf32, 1 : i32>
    "gpu.dealloc"(%x) {operandSegmentSizes = array<i32: 0, 1>} : (memref<50xf32, 1 : i32>) -> ()
    func.return
  }
}

// -----

// What is needed no more when a result is written first lies in the result, if less memory is needed so.
// CHECK:      func.func @in_result
// CHECK-NEXT:   %o = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<80000xi8, 1 : i32>
// CHECK-NEXT:   %arena = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<80000xi8, 1 : i32>
// CHECK-NEXT:   %0 = arith.constant 0 : index
// CHECK-NEXT:   %x = memref.view %arena[%0][] : memref<80000xi8, 1 : i32> to memref<20000xf32, 1 : i32>
// CHECK-NEXT:   "gpu.memcpy"(%x, %a)
// CHECK-NEXT:   %y = memref.view %o[%0][] : memref<80000xi8, 1 : i32> to memref<20000xf32, 1 : i32>
// CHECK-NEXT:   "gpu.memcpy"(%y, %x)
// CHECK-NEXT:   %z = memref.view %arena[%0][] : memref<80000xi8, 1 : i32> to memref<20000xf32, 1 : i32>
// CHECK-NEXT:   "gpu.memcpy"(%z, %y)
// CHECK-NEXT:   %o_1 = memref.view %o[%0][] : memref<80000xi8, 1 : i32> to memref<20000xf32, 1 : i32>
// CHECK-NEXT:   "gpu.memcpy"(%o_1, %z)
// CHECK-NEXT:   "gpu.dealloc"(%arena)
// CHECK-NEXT:   func.return %o_1
func.func @in_result(%a: memref<20000xf32, 1 : i32>) -> memref<20000xf32, 1 : i32> {
  %x = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<20000xf32, 1 : i32>
  "gpu.memcpy"(%x, %a) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<20000xf32, 1 : i32>, memref<20000xf32, 1 : i32>) -> ()
  %y = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<20000xf32, 1 : i32>
  "gpu.memcpy"(%y, %x) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<20000xf32, 1 : i32>, memref<20000xf32, 1 : i32>) -> ()
  %z = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<20000xf32, 1 : i32>
  "gpu.memcpy"(%z, %y) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<20000xf32, 1 : i32>, memref<20000xf32, 1 : i32>) -> ()
  %o = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<20000xf32, 1 : i32>
  "gpu.memcpy"(%o, %z) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<20000xf32, 1 : i32>, memref<20000xf32, 1 : i32>) -> ()
  func.return %o : memref<20000xf32, 1 : i32>
}

// -----

// A result that is written in a loop is needed in all of it.
// CHECK:      func.func @in_loop
// CHECK:        %arena = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<80000xi8, 1 : i32>
// CHECK:        memref.view %arena
// CHECK-NOT:    memref.view
func.func @in_loop(%a: memref<20000xf32, 1 : i32>) -> memref<20000xf32, 1 : i32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %o = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<20000xf32, 1 : i32>
  %x = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<20000xf32, 1 : i32>
  scf.for %i = %zero to %three step %one {
    "gpu.memcpy"(%x, %a) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<20000xf32, 1 : i32>, memref<20000xf32, 1 : i32>) -> ()
    %y = memref.reinterpret_cast %x to offset: [0], sizes: [20000], strides: [1] : memref<20000xf32, 1 : i32> to memref<20000xf32, 1 : i32>
    "gpu.memcpy"(%o, %y) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<20000xf32, 1 : i32>, memref<20000xf32, 1 : i32>) -> ()
  }
  func.return %o : memref<20000xf32, 1 : i32>
}

// -----

// A reshape that stands before all uses prolongs no lifetime: both have the same place.
// CHECK:      func.func @reshaped_first
// CHECK-NEXT:   %arena = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<256xi8, 1 : i32>
func.func @reshaped_first(%a: memref<50xf32, 1 : i32>) -> (memref<50xf32, 1 : i32>, memref<50xf32, 1 : i32>) {
  %x = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<50xf32, 1 : i32>
  %r = "memref.reinterpret_cast"(%x) <{static_offsets = array<i64: 0>, static_sizes = array<i64: 50>, static_strides = array<i64: 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (memref<50xf32, 1 : i32>) -> memref<50xf32, 1 : i32>
  %y = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<50xf32, 1 : i32>
  %s = "memref.reinterpret_cast"(%y) <{static_offsets = array<i64: 0>, static_sizes = array<i64: 50>, static_strides = array<i64: 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (memref<50xf32, 1 : i32>) -> memref<50xf32, 1 : i32>
  %o = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<50xf32, 1 : i32>
  "gpu.memcpy"(%r, %a) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<50xf32, 1 : i32>, memref<50xf32, 1 : i32>) -> ()
  "gpu.memcpy"(%o, %r) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<50xf32, 1 : i32>, memref<50xf32, 1 : i32>) -> ()
  %p = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<50xf32, 1 : i32>
  "gpu.memcpy"(%s, %a) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<50xf32, 1 : i32>, memref<50xf32, 1 : i32>) -> ()
  "gpu.memcpy"(%p, %s) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<50xf32, 1 : i32>, memref<50xf32, 1 : i32>) -> ()
  func.return %o, %p : memref<50xf32, 1 : i32>, memref<50xf32, 1 : i32>
}
