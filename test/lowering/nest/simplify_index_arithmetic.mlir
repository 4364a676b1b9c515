// RUN: tile-opt %s -p 'simplify-index-arithmetic{count=true}' | filecheck %s

// What the ranges of the loops decide goes: quotients, remainders, tests, branches.
// CHECK:      nest.for %i : local.x to 8 {
// CHECK-NEXT:   nest.for %j : serial to 4 {
// CHECK-NEXT:     %a = nest.load %A[%i, %j] : memref<8x4xf32, 1 : i32>
// CHECK-NEXT:     %b = nest.load %A[%i, 0] if %i < 7 else %a : memref<8x4xf32, 1 : i32>
// CHECK-NEXT:     nest.store %a, %A[%i, %j] : f32, memref<8x4xf32, 1 : i32>
// CHECK-NEXT:     nest.if %i + %j < 9 {
// CHECK-NEXT:       nest.store %b, %A[%i, %j] : f32, memref<8x4xf32, 1 : i32>
// CHECK-NEXT:     }
// CHECK-NEXT:     nest.for %k = %j to 4 : serial {
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK:      index_operations.before = {{[0-9]+}} : i64, index_operations.after = {{[0-9]+}} : i64
"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<8x4xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<8x4xf32, 1 : i32>):
    nest.for %i : local.x to 8 {
      nest.for %j : serial to 4 {
        %unused = nest.index 4*%i
        %a = nest.load %A[((4*%i + %j) floordiv 4), ((4*%i + %j) mod 4)] if 0 <= %i : memref<8x4xf32, 1 : i32>
        %b = nest.load %A[%i, (%i floordiv 8)] if %i + %j < 20 and %i < 7 else %a : memref<8x4xf32, 1 : i32>
        nest.if %i < 8 {
          nest.store %a, %A[%i, min(%j, 3)] : f32, memref<8x4xf32, 1 : i32>
        }
        nest.if %i + %j < 9 {
          nest.if %i + %j < 10 {
            nest.store %b, %A[%i, %j] : f32, memref<8x4xf32, 1 : i32>
          }
        }
        nest.if 8 <= %i {
          nest.store %b, %A[0, 0] : f32, memref<8x4xf32, 1 : i32>
        }
        nest.for %k = (%j mod 5) to 4 : serial {
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
