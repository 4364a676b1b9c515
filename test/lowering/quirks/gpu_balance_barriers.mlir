// RUN: tile-opt %s -p gpu-balance-barriers | filecheck %s

// If one arm of a branch waits, so does the other; there may be no other yet.
// CHECK-LABEL: sym_name = "m"
// CHECK:      scf.if %c {
// CHECK-NEXT:   "gpu.barrier"() : () -> ()
// CHECK-NEXT: } else {
// CHECK-NEXT:   "gpu.barrier"() : () -> ()
// CHECK-NEXT: }
// CHECK-NEXT: %y = scf.if %c -> (f32) {
// CHECK-NEXT:   "gpu.barrier"() : () -> ()
// CHECK-NEXT:   scf.yield %x : f32
// CHECK-NEXT: } else {
// CHECK-NEXT:   scf.if %d {
// CHECK-NEXT:     "gpu.barrier"() : () -> ()
// CHECK-NEXT:   } else {
// CHECK-NEXT:     "gpu.barrier"() : () -> ()
// CHECK-NEXT:   }
// CHECK-NEXT:   scf.yield %x : f32
// CHECK-NEXT: }
// A branch without barriers stays as it is.
// CHECK-NEXT: scf.if %c {
// CHECK-NEXT:   memref.store
// CHECK-NEXT: }
// CHECK-NEXT: "gpu.return"
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32, 1 : i32>, index, index, f32) -> (), kernel}> ({
  ^bb0(%A: memref<8xf32, 1 : i32>, %i: index, %j: index, %x: f32):
    %c = arith.cmpi slt, %i, %j : index
    %d = arith.cmpi eq, %i, %j : index
    scf.if %c {
      "gpu.barrier"() : () -> ()
    }
    %y = scf.if %c -> (f32) {
      scf.yield %x : f32
    } else {
      scf.if %d {
        "gpu.barrier"() : () -> ()
      }
      scf.yield %x : f32
    }
    scf.if %c {
      memref.store %y, %A[%i] : memref<8xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
