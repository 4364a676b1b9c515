// RUN: tile-opt %s -p gpu-wait-before-branches | filecheck %s

// A barrier right before a branch that holds one, none before one that does not.
// CHECK:      %c = arith.cmpi slt, %i, %j : index
// CHECK-NEXT: "gpu.barrier"() : () -> ()
// CHECK-NEXT: scf.if %c {
// CHECK-NEXT:   "gpu.barrier"() : () -> ()
// CHECK-NEXT: }
// CHECK-NEXT: scf.if %c {
// CHECK-NEXT:   memref.store %x, %A[%i] : memref<8xf32, 1 : i32>
// CHECK-NEXT: }
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32, 1 : i32>, index, index, f32) -> (), kernel}> ({
  ^bb0(%A: memref<8xf32, 1 : i32>, %i: index, %j: index, %x: f32):
    %c = arith.cmpi slt, %i, %j : index
    scf.if %c {
      "gpu.barrier"() : () -> ()
    }
    scf.if %c {
      memref.store %x, %A[%i] : memref<8xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
