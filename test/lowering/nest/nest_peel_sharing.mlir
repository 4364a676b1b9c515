// RUN: tile-opt %s -p 'nest-peel{sharing=false}' --split-input-file | filecheck %s

// Kernels whose work-items share memory stay as they are.
// CHECK:      nest.for %g : group.x to 8 {
// CHECK-NEXT:   nest.for %i : local.x to 16 {
// CHECK-NEXT:     %T = nest.buffer
// CHECK-NEXT:     nest.for %k : serial to 3 {
// CHECK-NEXT:       nest.if 16*%g + %i < 120 {
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<120xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<120xf32, 1 : i32>):
    nest.for %g : group.x to 8 {
      nest.for %i : local.x to 16 {
        %T = nest.buffer : memref<16x3xf32, 3 : i32>
        nest.for %k : serial to 3 {
          nest.if 16*%g + %i < 120 {
            %a = nest.load %A[16*%g + %i] : memref<120xf32, 1 : i32>
            nest.store %a, %T[%i, %k] : f32, memref<16x3xf32, 3 : i32>
          }
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// Others are peeled.
// CHECK:      nest.for %i : local.x to 16 {
// CHECK-NEXT:   nest.if %g < 7 {
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<120xf32, 1 : i32>, memref<120x3xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<120xf32, 1 : i32>, %B: memref<120x3xf32, 1 : i32>):
    nest.for %g : group.x to 8 {
      nest.for %i : local.x to 16 {
        nest.for %k : serial to 3 {
          nest.if 16*%g + %i < 120 {
            %a = nest.load %A[16*%g + %i] : memref<120xf32, 1 : i32>
            nest.store %a, %B[16*%g + %i, %k] : f32, memref<120x3xf32, 1 : i32>
          }
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
