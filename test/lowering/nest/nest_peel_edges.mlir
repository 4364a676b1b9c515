// RUN: tile-opt %s -p 'nest-peel{edges=true}' | filecheck %s

// In a kernel of one work-group, and in loops in loops, the last steps alone test lanes.
// CHECK:      nest.for %r : serial to 3 {
// CHECK-NEXT:   nest.for %c : serial to 4 {
// CHECK-NEXT:     nest.for %v : vector to 8 {
// CHECK-NEXT:       %a = nest.load %A[%r, 8*%c + %v]
// CHECK:        nest.for {{%[a-z_0-9]+}} = 4 to 5 : serial {
// CHECK-NEXT:     nest.for [[V:%[a-z_0-9]+]] : vector to 8 {
// CHECK-NEXT:       nest.if 8*{{%[a-z_0-9]+}} + [[V]] < 39 {
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<3x39xf32, 1 : i32>, memref<3x39xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<3x39xf32, 1 : i32>, %B: memref<3x39xf32, 1 : i32>):
    nest.for %r : serial to 3 {
      nest.for %c : serial to 5 {
        nest.for %v : vector to 8 {
          nest.if 8*%c + %v < 39 {
            %a = nest.load %A[%r, 8*%c + %v] : memref<3x39xf32, 1 : i32>
            nest.store %a, %B[%r, 8*%c + %v] : f32, memref<3x39xf32, 1 : i32>
          }
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "one"} : () -> ()
}) : () -> ()
