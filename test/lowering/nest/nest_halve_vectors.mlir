// RUN: tile-opt %s -p nest-halve-vectors --split-input-file | filecheck %s
// RUN: tile-opt %s -p nest-halve-vectors,nest-vectorize,nest-to-gpu -t opencl --split-input-file \
// RUN:   | filecheck %s --check-prefix=OPENCL
// RUN: tile-opt %s -p nest-halve-vectors,nest-share-memory --split-input-file \
// RUN:   | filecheck %s --check-prefix=SHARED

// What is past the end is left out by shorter vectors.
// CHECK:      nest.for %i : unroll to 2 {
// CHECK-NEXT:   nest.if %i < 1 {
// CHECK-NEXT:     nest.for %v : vector to 8 {
// CHECK-NEXT:       %a = nest.load %A[8*%i + %v] : memref<16xf32, 1 : i32>
// CHECK-NEXT:       nest.store %a, %B[8*%i + %v] : f32, memref<15xf32, 1 : i32>
// CHECK-NEXT:     }
// CHECK-NEXT:   } else {
// CHECK-NEXT:     nest.for %v_1 : vector to 4 {
// CHECK-NEXT:       %a_1 = nest.load %A[8*%i + %v_1] : memref<16xf32, 1 : i32>
// CHECK-NEXT:       nest.store %a_1, %B[8*%i + %v_1] : f32, memref<15xf32, 1 : i32>
// CHECK-NEXT:     }
// CHECK-NEXT:     nest.for %v_2 : vector to 2 {
// CHECK-NEXT:       %a_2 = nest.load %A[8*%i + %v_2 + 4] : memref<16xf32, 1 : i32>
// CHECK-NEXT:       nest.store %a_2, %B[8*%i + %v_2 + 4] : f32, memref<15xf32, 1 : i32>
// CHECK-NEXT:     }
// CHECK-NEXT:     nest.for %v_3 : vector to 1 {
// CHECK-NEXT:       nest.if 8*%i + %v_3 < 9 {
// CHECK-NEXT:         %a_3 = nest.load %A[8*%i + %v_3 + 6] : memref<16xf32, 1 : i32>
// CHECK-NEXT:         nest.store %a_3, %B[8*%i + %v_3 + 6] : f32, memref<15xf32, 1 : i32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     nest.for %v_4 : vector to 1 {
// CHECK-NEXT:       nest.if 8*%i + %v_4 < 8 {
// CHECK-NEXT:         %a_4 = nest.load %A[8*%i + %v_4 + 7] : memref<16xf32, 1 : i32>
// CHECK-NEXT:         nest.store %a_4, %B[8*%i + %v_4 + 7] : f32, memref<15xf32, 1 : i32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// OPENCL:      vstore8({{.*}}, 0, B);
// OPENCL-NEXT: vstore4({{.*}}, 0, B + 8);
// OPENCL-NEXT: vstore2({{.*}}, 0, B + 12);
// OPENCL-NEXT: B[14] = A[14];
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<16xf32, 1 : i32>, memref<15xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<16xf32, 1 : i32>, %B: memref<15xf32, 1 : i32>):
    nest.for %i : unroll to 2 {
      nest.for %v : vector to 8 {
        nest.if 8*%i + %v < 15 {
          %a = nest.load %A[8*%i + %v] : memref<16xf32, 1 : i32>
          nest.store %a, %B[8*%i + %v] : f32, memref<15xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// A copy writes what is past the end, too.
// CHECK:      nest.if %g < 2 {
// CHECK-NEXT:   nest.for %v : vector to 2 {
// CHECK-NEXT:     %a = nest.load %A[2*%g + %v] : memref<5xf32, 1 : i32>
// CHECK-NEXT:     nest.store %a, %B[2*%g + %v] : f32, memref<6xf32, 1 : i32>
// CHECK-NEXT:   }
// CHECK-NEXT: } else {
// CHECK-NEXT:   nest.for %v_1 : vector to 1 {
// CHECK-NEXT:     %a_1 = nest.load %A[2*%g + %v_1] if 2*%g + %v_1 < 5 : memref<5xf32, 1 : i32>
// CHECK-NEXT:     nest.store %a_1, %B[2*%g + %v_1] : f32, memref<6xf32, 1 : i32>
// CHECK-NEXT:   }
// CHECK-NEXT:   nest.for %v_2 : vector to 1 {
// CHECK-NEXT:     %a_2 = nest.load %A[2*%g + %v_2 + 1] if 2*%g + %v_2 < 4 : memref<5xf32, 1 : i32>
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<5xf32, 1 : i32>, memref<6xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<5xf32, 1 : i32>, %B: memref<6xf32, 1 : i32>):
    nest.for %g : serial to 3 {
      nest.for %v : vector to 2 {
        %a = nest.load %A[2*%g + %v] if 2*%g + %v < 5 : memref<5xf32, 1 : i32>
        nest.store %a, %B[2*%g + %v] : f32, memref<6xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// What one op of the loop gives another is that of its own part.
// CHECK:      nest.for %v : vector to 4 {
// CHECK-NEXT:   %a = nest.load %A[%v] : memref<8xf32, 1 : i32>
// CHECK-NEXT:   nest.store %a, %B[%v] : f32, memref<6xf32, 1 : i32>
// CHECK-NEXT: }
// CHECK-NEXT: nest.for %v_1 : vector to 2 {
// CHECK-NEXT:   %a_1 = nest.load %A[%v_1 + 4] : memref<8xf32, 1 : i32>
// CHECK-NEXT:   nest.store %a_1, %B[%v_1 + 4] : f32, memref<6xf32, 1 : i32>
// OPENCL:      vstore4({{.*}}, 0, B);
// OPENCL-NEXT: vstore2({{.*}}, 0, B + 4);
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32, 1 : i32>, memref<6xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<8xf32, 1 : i32>, %B: memref<6xf32, 1 : i32>):
    nest.for %v : vector to 8 {
      %a = nest.load %A[%v] : memref<8xf32, 1 : i32>
      nest.if %v < 6 {
        nest.store %a, %B[%v] : f32, memref<6xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// No part of a vector that is never whole stays a use of the array that it would write.
// SHARED:      %tile = nest.buffer
// SHARED-NEXT: nest.for %v : vector to 2 {
// SHARED-NEXT:   %a = nest.load %A[%v] : memref<4xf32, 1 : i32>
// SHARED-NEXT:   nest.store %a, %tile[%v] : f32, memref<3xf32, 3 : i32>
// SHARED-NEXT: }
// SHARED-NEXT: nest.for %v_1 : vector to 1 {
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4xf32, 1 : i32>, memref<3xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<4xf32, 1 : i32>, %B: memref<3xf32, 1 : i32>):
    %tile = nest.buffer : memref<3xf32, 3 : i32>
    nest.for %v : vector to 4 {
      %a = nest.load %A[%v] : memref<4xf32, 1 : i32>
      nest.if %v < 3 {
        nest.store %a, %tile[%v] : f32, memref<3xf32, 3 : i32>
      }
    }
    %b = nest.load %tile[2] : memref<3xf32, 3 : i32>
    nest.store %b, %B[0] : f32, memref<3xf32, 1 : i32>
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// What the work-items of a group fill together, each fills in the same place.
// CHECK:      nest.for %i : local.x to 2 {
// CHECK-NEXT:   nest.for %v : vector to 2 {
// CHECK-NEXT:     %tile = nest.buffer
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4xf32, 1 : i32>, memref<3xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<4xf32, 1 : i32>, %B: memref<3xf32, 1 : i32>):
    nest.for %i : local.x to 2 {
      nest.for %v : vector to 2 {
        %tile = nest.buffer : memref<2xf32, 3 : i32>
        %a = nest.load %A[2*%i + %v] : memref<4xf32, 1 : i32>
        nest.store %a, %tile[%i] : f32, memref<2xf32, 3 : i32>
        nest.if 2*%i + %v < 3 {
          %b = nest.load %tile[1 - %i] : memref<2xf32, 3 : i32>
          nest.store %b, %B[2*%i + %v] : f32, memref<3xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// What is added to registers is halved where it is known which lanes are there.
// CHECK:       sym_name = "sums"
// CHECK:       nest.for %v : vector to 4 {
// CHECK-NEXT:    {{%[0-9a-z_]+}} = nest.load %A[%v + 8]
// CHECK:       nest.for %v_1 : vector to 2 {
// CHECK-NEXT:    {{%[0-9a-z_]+}} = nest.load %A[%v_1 + 12]
// OPENCL:      float4 [[A:\w+]] = [[ACC:\w+]].s0123 + vload4(0, A + 8);
// OPENCL-NEXT: float2 [[B:\w+]] = [[ACC]].s45 + vload2(0, A + 12);
// OPENCL-NEXT: float2 [[C:\w+]] = [[ACC]].s67;
// OPENCL-NEXT: float4 [[D:\w+]] = (float4)([[B]].s0, [[B]].s1, [[C]].s0, [[C]].s1);
// OPENCL-NEXT: vstore8((float8)([[A]].s0, [[A]].s1, [[A]].s2, [[A]].s3, [[D]].s0, {{.*}}), 0, B);
"gpu.module"() <{sym_name = "sums"}> ({
  "gpu.func"() <{function_type = (memref<14xf32, 1 : i32>, memref<8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<14xf32, 1 : i32>, %B: memref<8xf32, 1 : i32>):
    %acc = nest.buffer : memref<8xf32, 5 : i32>
    nest.for %u : vector to 8 {
      %a = nest.load %A[%u] : memref<14xf32, 1 : i32>
      nest.store %a, %acc[%u] : f32, memref<8xf32, 5 : i32>
    }
    nest.for %v : vector to 8 {
      nest.if %v < 6 {
        %a = nest.load %A[%v + 8] : memref<14xf32, 1 : i32>
        %old = nest.load %acc[%v] : memref<8xf32, 5 : i32>
        %sum = arith.addf %old, %a : f32
        nest.store %sum, %acc[%v] : f32, memref<8xf32, 5 : i32>
      }
    }
    nest.for %w : vector to 8 {
      %a = nest.load %acc[%w] : memref<8xf32, 5 : i32>
      nest.store %a, %B[%w] : f32, memref<8xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// So it is where each step of a loop that is written out knows it.
// CHECK:       sym_name = "steps"
// CHECK:       nest.for %i : unroll to 2 {
// CHECK-NEXT:    nest.if %i < 1 {
// CHECK-NEXT:      nest.for {{%v_1|%v}} : vector to 4 {
// CHECK:         } else {
// CHECK-NEXT:      nest.for {{%v_[0-9]}} : vector to 2 {
// OPENCL:      float4 [[ACC:\w+]] = vload4(0, B + 4);
// OPENCL-NEXT: float2 {{.*}} = [[ACC]].s01 + vload2(0, A + 4);
// OPENCL-NEXT: vstore4(vload4(0, B) + vload4(0, A), 0, B);
"gpu.module"() <{sym_name = "steps"}> ({
  "gpu.func"() <{function_type = (memref<6xf32, 1 : i32>, memref<8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<6xf32, 1 : i32>, %B: memref<8xf32, 1 : i32>):
    %acc = nest.buffer : memref<8xf32, 5 : i32>
    nest.for %u : unroll to 2 {
      nest.for %v : vector to 4 {
        %b = nest.load %B[4*%u + %v] : memref<8xf32, 1 : i32>
        nest.store %b, %acc[4*%u + %v] : f32, memref<8xf32, 5 : i32>
      }
    }
    nest.for %i : unroll to 2 {
      nest.for %v : vector to 4 {
        nest.if 4*%i + %v < 6 {
          %a = nest.load %A[4*%i + %v] : memref<6xf32, 1 : i32>
          %old = nest.load %acc[4*%i + %v] : memref<8xf32, 5 : i32>
          %sum = arith.addf %old, %a : f32
          nest.store %sum, %acc[4*%i + %v] : f32, memref<8xf32, 5 : i32>
        }
      }
    }
    nest.for %u : unroll to 2 {
      nest.for %w : vector to 4 {
        %a = nest.load %acc[4*%u + %w] : memref<8xf32, 5 : i32>
        nest.store %a, %B[4*%u + %w] : f32, memref<8xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// A test that asks for an index inside of the loop is no branch around it.
// CHECK:      nest.for %v : vector to 2 {
// CHECK-NEXT:   nest.for %t : serial to 3 {
// CHECK-NEXT:     nest.if 9 <= %v + %t {
// CHECK:      nest.for %w : vector to 2 {
// CHECK-NEXT:   nest.for %s : serial to 3 {
// CHECK-NEXT:     nest.if %w + %s < 2 {
"gpu.module"() <{sym_name = "inner"}> ({
  "gpu.func"() <{function_type = (memref<6xf32, 1 : i32>, memref<8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<6xf32, 1 : i32>, %B: memref<8xf32, 1 : i32>):
    nest.for %v : vector to 2 {
      nest.for %t : serial to 3 {
        nest.if 9 <= %v + %t {
          %a = nest.load %A[%v + %t] : memref<6xf32, 1 : i32>
          nest.store %a, %B[%v] : f32, memref<8xf32, 1 : i32>
        }
      }
    }
    nest.for %w : vector to 2 {
      nest.for %s : serial to 3 {
        nest.if %w + %s < 2 {
          %a = nest.load %A[%w + %s] : memref<6xf32, 1 : i32>
          nest.store %a, %B[%w] : f32, memref<8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
