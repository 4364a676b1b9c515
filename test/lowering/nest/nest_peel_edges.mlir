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

// What a loop that fills local memory makes is no reason to leave tests in the loop that reads it.
// CHECK-LABEL: sym_name = "filling"
// CHECK:       nest.for %x : serial to 6 {
// CHECK-NEXT:    nest.load %A[16*%x + %i] : memref<100xf32, 1 : i32>
// CHECK:       nest.for {{%x_[0-9]+}} = 6 to 7 : serial {
// CHECK:       nest.for %y : serial to 9 {
// CHECK-NEXT:    nest.load %tile[10*%y + %i] : memref<112xf32, 3 : i32>
// CHECK-NEXT:    nest.load %A[10*%y + %i] : memref<100xf32, 1 : i32>
// CHECK:       nest.for [[Y:%y_[0-9]+]] = 9 to 10 : serial {
// CHECK:         nest.load %A[10*[[Y]] + %i] if 10*[[Y]] + %i < 100
// CHECK:       nest.for %z : serial to 5 {
// CHECK-NEXT:    nest.load %A[20*%z + %i] if 20*%z + %i < 90
// CHECK-NOT:   nest.for
"gpu.module"() <{sym_name = "filling"}> ({
  "gpu.func"() <{function_type = (memref<100xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<100xf32, 1 : i32>):
    nest.for %i : local.x to 16 {
      %tile = nest.buffer : memref<112xf32, 3 : i32>
      nest.for %x : serial to 7 {
        %a = nest.load %A[16*%x + %i] if 16*%x + %i < 100 : memref<100xf32, 1 : i32>
        nest.store %a, %tile[16*%x + %i] : f32, memref<112xf32, 3 : i32>
      }
      nest.for %y : serial to 10 {
        %b = nest.load %tile[10*%y + %i] : memref<112xf32, 3 : i32>
        %c = nest.load %A[10*%y + %i] if 10*%y + %i < 100 : memref<100xf32, 1 : i32>
      }
      nest.for %z : serial to 5 {
        %d = nest.load %A[20*%z + %i] if 20*%z + %i < 90 : memref<100xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// Where half of the groups are at an edge, the steps that need a test are apart there, too.
// CHECK-LABEL: sym_name = "many_edges"
// CHECK:       nest.if %g < 1 {
// CHECK-NEXT:    nest.for %x : serial to 16 {
// CHECK-NEXT:      nest.load %A[32*%g + %x] : memref<100xf32, 1 : i32>
// CHECK:         nest.for %y : serial to 9 {
// CHECK-NEXT:      nest.load %A[10*%y] : memref<100xf32, 1 : i32>
// CHECK:         nest.for {{%y_[0-9]+}} = 9 to 10 : serial {
// CHECK:       } else {
// CHECK:         nest.load {{.*}} < 37
// CHECK:         nest.for [[Y:%y_[0-9]+]] : serial to 9 {
// CHECK-NEXT:      nest.load %A[10*[[Y]]] : memref<100xf32, 1 : i32>
// CHECK:         nest.for {{%y_[0-9]+}} = 9 to 10 : serial {
"gpu.module"() <{sym_name = "many_edges"}> ({
  "gpu.func"() <{function_type = (memref<100xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<100xf32, 1 : i32>):
    nest.for %g : group.x to 2 {
      nest.for %x : serial to 16 {
        %a = nest.load %A[32*%g + %x] if 32*%g + %x < 37 : memref<100xf32, 1 : i32>
      }
      nest.for %y : serial to 10 {
        %b = nest.load %A[10*%y] if 10*%y < 90 : memref<100xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
