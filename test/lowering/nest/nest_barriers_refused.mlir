// RUN: not tile-opt %s -p nest-barriers 2>&1 | filecheck %s

// The first branch is right: what is read is not what is written. In the second, it may be.
// CHECK: work-items use elements of %t that others write, where not all of them arrive: no barrier can stand there
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32, 1 : i32>):
    nest.for %i : local.x to 64 {
      %u = nest.buffer : memref<64xf32, 3 : i32>
      %t = nest.buffer : memref<64xf32, 3 : i32>
      nest.if %i < 32 {
        %a = nest.load %u[%i + 32] : memref<64xf32, 3 : i32>
        nest.store %a, %u[%i] : f32, memref<64xf32, 3 : i32>
      }
      nest.if %i < 32 {
        %b = nest.load %t[31 - %i] : memref<64xf32, 3 : i32>
        nest.store %b, %t[%i] : f32, memref<64xf32, 3 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
