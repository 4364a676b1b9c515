// RUN: tile-opt %s -p nest-vectorize | filecheck %s

// Stores in turns under one condition are vectors under it; under two they stay as they are.
// CHECK:      %[[LOW:.*]] = vector.shuffle %a, %b [0, 8, 1, 9, 2, 10, 3, 11]
// CHECK-NEXT: nest.store %[[LOW]], %B[48*%g] if %g < 2 : vector<8xf32>
// CHECK:      nest.store %{{.*}}, %B[48*%g + 8] if %g < 2 : vector<8xf32>
// CHECK-NOT:  vector.shuffle
// CHECK:      nest.store %{{.*}}, %C[48*%g] if %g < 2 : f32
// CHECK:      nest.store %{{.*}}, %C[48*%g + 1] if %g < 3 : f32
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<2x24xf32, 1 : i32>, memref<192xf32, 1 : i32>, memref<192xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<2x24xf32, 1 : i32>, %B: memref<192xf32, 1 : i32>, %C: memref<192xf32, 1 : i32>):
    nest.for %g : group.x to 4 {
      nest.for %v : vector to 8 {
        %a = nest.load %A[0, %v] : memref<2x24xf32, 1 : i32>
        nest.store %a, %B[48*%g + 2*%v] if %g < 2 : f32, memref<192xf32, 1 : i32>
        %b = nest.load %A[1, %v] : memref<2x24xf32, 1 : i32>
        nest.store %b, %B[48*%g + 2*%v + 1] if %g < 2 : f32, memref<192xf32, 1 : i32>
      }
      nest.for %w : vector to 8 {
        %c = nest.load %A[0, %w] : memref<2x24xf32, 1 : i32>
        nest.store %c, %C[48*%g + 2*%w] if %g < 2 : f32, memref<192xf32, 1 : i32>
        %d = nest.load %A[1, %w] : memref<2x24xf32, 1 : i32>
        nest.store %d, %C[48*%g + 2*%w + 1] if %g < 3 : f32, memref<192xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
