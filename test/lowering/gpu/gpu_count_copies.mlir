// RUN: tile-opt %s -p gpu-count-copies | filecheck %s
// RUN: tile-opt %s -p gpu-count-copies -t opencl | filecheck %s --check-prefix=OPENCL

// Which of three copies a step uses is counted, and which is filled; halves are not, nor where nothing waits.
// CHECK:      %copy = arith.constant 0 : index
// CHECK-NEXT: %copy_1 = arith.constant 2 : index
// CHECK-NEXT: scf.for %k = {{.*}} iter_args(%copy_2 = %copy, %copy_3 = %copy_1) -> (index, index) {
// CHECK-NEXT:   nest.wait 1
// CHECK-NOT:    arith.remui %k, %three
// CHECK:        arith.remui %k, %two
// CHECK-NEXT:   memref.store %f, %a[%copy_2]
// CHECK-NEXT:   memref.store %f, %a[%copy_3]
// CHECK:        arith.cmpi eq, %copy_2
// CHECK:        scf.yield
// CHECK:      scf.for %j
// CHECK-NEXT:   arith.remui %j, %three

// OPENCL:          copy = copy == 2 ? 0 : copy + 1;
// OPENCL-NEXT:     copy_1 = copy_1 == 2 ? 0 : copy_1 + 1;
// OPENCL-NEXT: }
"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<32xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%a: memref<32xf32, 1 : i32>):
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %three = arith.constant 3 : index
    %many = arith.constant 32 : index
    %f = arith.constant 1.0 : f32
    scf.for %k = %zero to %many step %one {
      nest.wait 1
      %here = arith.remui %k, %three : index
      %later = arith.addi %k, %two : index
      %there = arith.remui %later, %three : index
      %half = arith.remui %k, %two : index
      memref.store %f, %a[%here] : memref<32xf32, 1 : i32>
      memref.store %f, %a[%there] : memref<32xf32, 1 : i32>
      memref.store %f, %a[%half] : memref<32xf32, 1 : i32>
      scf.yield
    }
    scf.for %j = %zero to %many step %one {
      %here = arith.remui %j, %three : index
      memref.store %f, %a[%here] : memref<32xf32, 1 : i32>
      scf.yield
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "fill"} : () -> ()
}) : () -> ()
