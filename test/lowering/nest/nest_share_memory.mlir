// RUN: tile-opt %s -p nest-share-memory --split-input-file | filecheck %s

// What is over before another begins shares its place, which is as large as the largest needs.
// CHECK:         %a = nest.buffer : memref<64xf32, 3 : i32>
// CHECK:         nest.store %0, %a[%l]
// CHECK:         %b = nest.buffer : memref<32xf32, 3 : i32>
// CHECK:         nest.load %a[-%l + 31]
// CHECK:         nest.store %1, %b[%l]
// CHECK:         nest.load %b[-%l + 31]
// CHECK:         nest.store %2, %a[%l]
// CHECK:         nest.load %a[-%l + 31]
// CHECK:         sym_name = "three"
"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<32xf32, 1 : i32>, memref<32xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%x: memref<32xf32, 1 : i32>, %y: memref<32xf32, 1 : i32>):
    nest.for %l : local.x to 32 {
      %a = nest.buffer : memref<32xf32, 3 : i32>
      %0 = nest.load %x[%l] : memref<32xf32, 1 : i32>
      nest.store %0, %a[%l] : f32, memref<32xf32, 3 : i32>
      %b = nest.buffer : memref<32xf32, 3 : i32>
      %1 = nest.load %a[31 - %l] : memref<32xf32, 3 : i32>
      nest.store %1, %b[%l] : f32, memref<32xf32, 3 : i32>
      %c = nest.buffer : memref<64xf32, 3 : i32>
      %2 = nest.load %b[31 - %l] : memref<32xf32, 3 : i32>
      nest.store %2, %c[%l] : f32, memref<64xf32, 3 : i32>
      %3 = nest.load %c[31 - %l] : memref<64xf32, 3 : i32>
      nest.store %3, %y[%l] : f32, memref<32xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "three", gpu.known_block_size = array<i32: 32, 1, 1>} : () -> ()
}) : () -> ()

// -----

// Work-items would have to wait once more before the second is written: both stay.
// CHECK:         nest.buffer : memref<32xf32, 3 : i32>
// CHECK:         nest.buffer : memref<32xf32, 3 : i32>
// CHECK:         sym_name = "waiting"
"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<32xf32, 1 : i32>, memref<32xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%x: memref<32xf32, 1 : i32>, %y: memref<32xf32, 1 : i32>):
    nest.for %l : local.x to 32 {
      %a = nest.buffer : memref<32xf32, 3 : i32>
      %0 = nest.load %x[%l] : memref<32xf32, 1 : i32>
      nest.store %0, %a[%l] : f32, memref<32xf32, 3 : i32>
      %1 = nest.load %a[31 - %l] : memref<32xf32, 3 : i32>
      %b = nest.buffer : memref<32xf32, 3 : i32>
      nest.store %1, %b[%l] : f32, memref<32xf32, 3 : i32>
      %2 = nest.load %b[31 - %l] : memref<32xf32, 3 : i32>
      nest.store %2, %y[%l] : f32, memref<32xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "waiting", gpu.known_block_size = array<i32: 32, 1, 1>} : () -> ()
}) : () -> ()

// -----

// Integers are kept as the bits of floats.
// CHECK:      %a = nest.buffer : memref<32xf32, 3 : i32>
// CHECK:      %b = nest.buffer : memref<32xf32, 3 : i32>
// CHECK-NOT:  nest.buffer
// CHECK:      [[BITS:%.*]] = arith.bitcast %n : i32 to f32
// CHECK-NEXT: nest.store [[BITS]], %a[%l] : f32, memref<32xf32, 3 : i32>
// CHECK-NEXT: [[LOADED:%.*]] = nest.load %a[-%l + 31] : memref<32xf32, 3 : i32>
// CHECK-NEXT: arith.bitcast [[LOADED]] : f32 to i32
// CHECK:      sym_name = "bits"
"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<32xf32, 1 : i32>, memref<32xi32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%x: memref<32xf32, 1 : i32>, %y: memref<32xi32, 1 : i32>):
    nest.for %l : local.x to 32 {
      %a = nest.buffer : memref<32xf32, 3 : i32>
      %0 = nest.load %x[%l] : memref<32xf32, 1 : i32>
      nest.store %0, %a[%l] : f32, memref<32xf32, 3 : i32>
      %1 = nest.load %a[31 - %l] : memref<32xf32, 3 : i32>
      %b = nest.buffer : memref<32xf32, 3 : i32>
      nest.store %1, %b[%l] : f32, memref<32xf32, 3 : i32>
      %2 = nest.load %b[31 - %l] : memref<32xf32, 3 : i32>
      %n = arith.fptosi %2 : f32 to i32
      %c = nest.buffer : memref<32xi32, 3 : i32>
      nest.store %n, %c[%l] : i32, memref<32xi32, 3 : i32>
      %3 = nest.load %c[31 - %l] : memref<32xi32, 3 : i32>
      nest.store %3, %y[%l] : i32, memref<32xi32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "bits", gpu.known_block_size = array<i32: 32, 1, 1>} : () -> ()
}) : () -> ()

// -----

// Elements of other sizes, copies of their own, and what is used later stay apart.
// CHECK:         nest.buffer : memref<32xi64, 3 : i32>
// CHECK:         nest.buffer : memref<32xf32, 3 : i32>
// CHECK:         sym_name = "apart"
"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<32xf32, 1 : i32>, memref<32xi64, 1 : i32>) -> (), kernel}> ({
  ^bb0(%x: memref<32xf32, 1 : i32>, %y: memref<32xi64, 1 : i32>):
    nest.for %l : local.x to 32 {
      %a = nest.buffer : memref<32xi64, 3 : i32>
      %0 = nest.load %y[%l] : memref<32xi64, 1 : i32>
      nest.store %0, %a[%l] : i64, memref<32xi64, 3 : i32>
      %1 = nest.load %a[31 - %l] : memref<32xi64, 3 : i32>
      nest.store %1, %y[%l] : i64, memref<32xi64, 1 : i32>
      %b = nest.buffer : memref<32xf32, 3 : i32>
      %2 = nest.load %x[%l] : memref<32xf32, 1 : i32>
      nest.store %2, %b[%l] : f32, memref<32xf32, 3 : i32>
      %3 = nest.load %b[31 - %l] : memref<32xf32, 3 : i32>
      nest.store %3, %x[%l] : f32, memref<32xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "apart", gpu.known_block_size = array<i32: 32, 1, 1>} : () -> ()
}) : () -> ()
