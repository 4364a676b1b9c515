// RUN: not tile-opt %s -p nest-to-gpu 2>&1 | filecheck %s

// CHECK: scf.for cannot stand in a nest
// CHECK-NOT: Traceback
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32, 1 : i32>):
    nest.for %i : local.x to 64 {
      %a = nest.load %A[%i] : memref<64xf32, 1 : i32>
      nest.store %a, %A[%i] : f32, memref<64xf32, 1 : i32>
    }
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %k = %c0 to %c1 step %c1 {
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
