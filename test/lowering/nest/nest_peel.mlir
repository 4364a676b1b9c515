// RUN: tile-opt %s -p nest-peel --split-input-file | filecheck %s

// What holds in most groups for all that is inside them is tested once, before the loops.
// CHECK:      nest.for %g : group.x to 8 {
// CHECK-NEXT:   nest.for %i : local.x to 16 {
// CHECK-NEXT:     nest.if 1 <= %g and %g < 7 {
// CHECK-NEXT:       nest.for %k : serial to 3 {
// CHECK-NEXT:         [[A:%[a-z0-9_]+]] = nest.load %A[16*%g + %i + %k - 1] : memref<120xf32, 1 : i32>
// CHECK-NEXT:         nest.store [[A]], %B[16*%g + %i, %k] : f32, memref<120x3xf32, 1 : i32>
// CHECK-NEXT:       }
// CHECK-NEXT:     } else {
// CHECK-NEXT:       nest.for %k_1 : serial to 3 {
// CHECK-NEXT:         nest.if 16*%g + %i < 120 {
// CHECK-NEXT:           [[ONE:%[a-z0-9_]+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:           nest.load %A[16*%g + %i + %k_1 - 1] if 1 <= 16*%g + %i + %k_1 and 16*%g + %i + %k_1 < 121 else [[ONE]]
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<120xf32, 1 : i32>, memref<120x3xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<120xf32, 1 : i32>, %B: memref<120x3xf32, 1 : i32>):
    nest.for %g : group.x to 8 {
      nest.for %i : local.x to 16 {
        nest.for %k : serial to 3 {
          nest.if 16*%g + %i < 120 {
            %one = arith.constant 1.0 : f32
            %a = nest.load %A[16*%g + %i + %k - 1] if 1 <= 16*%g + %i + %k and 16*%g + %i + %k < 121 else %one : memref<120xf32, 1 : i32>
            nest.store %a, %B[16*%g + %i, %k] : f32, memref<120x3xf32, 1 : i32>
          }
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "edges"} : () -> ()
}) : () -> ()

// -----

// A test that is made once by each work-item stays, and so does one that most groups need.
// CHECK-LABEL: sym_name = "stays"
// CHECK-NOT:   else
// CHECK:       nest.if 32*%g + %i < 50 {
// CHECK-NOT:   else
// CHECK:       nest.load %A[16*%k + %i] if 16*%k + %i < 40
// CHECK-NOT:   else
// CHECK:       gpu.return
"gpu.module"() <{sym_name = "stays"}> ({
  "gpu.func"() <{function_type = (memref<50xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<50xf32, 1 : i32>):
    nest.for %g : group.x to 2 {
      nest.for %i : local.x to 32 {
        nest.if 32*%g + %i < 50 {
          %a = nest.load %A[32*%g + %i] : memref<50xf32, 1 : i32>
          nest.store %a, %A[32*%g + %i] : f32, memref<50xf32, 1 : i32>
        }
        nest.for %k : serial to 3 {
          %b = nest.load %A[%i + 16*%k] if %i + 16*%k < 40 : memref<50xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// Of a serial loop the last step is apart. The tile in local memory is there once for both.
// CHECK-LABEL: sym_name = "steps"
// CHECK:       nest.for %i : local.x to 16 {
// CHECK-NEXT:    %tile = nest.buffer : memref<16xf32, 3 : i32>
// CHECK-NEXT:    nest.for %k : serial to 6 {
// CHECK-NEXT:      [[A:%[a-z0-9_]+]] = nest.load %A[16*%k + %i] : memref<100xf32, 1 : i32>
// CHECK-NEXT:      nest.store [[A]], %tile[%i] : f32, memref<16xf32, 3 : i32>
// CHECK-NEXT:    }
// CHECK-NEXT:    nest.for [[K:%k_[0-9]+]] = 6 to 7 : serial {
// CHECK-NEXT:      nest.load %A[16*[[K]] + %i] if 16*[[K]] + %i < 100 : memref<100xf32, 1 : i32>
// CHECK-NEXT:      nest.store {{.*}}, %tile[%i]
"gpu.module"() <{sym_name = "steps"}> ({
  "gpu.func"() <{function_type = (memref<100xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<100xf32, 1 : i32>):
    nest.for %i : local.x to 16 {
      nest.for %k : serial to 7 {
        %tile = nest.buffer : memref<16xf32, 3 : i32>
        %a = nest.load %A[%i + 16*%k] if %i + 16*%k < 100 : memref<100xf32, 1 : i32>
        nest.store %a, %tile[%i] : f32, memref<16xf32, 3 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// Of loops that follow one another each is split.
// CHECK-LABEL: sym_name = "phases"
// CHECK:       nest.for %k : serial to 6 {
// CHECK:       nest.for [[K:%k_[0-9]+]] = 6 to 7 : serial {
// CHECK:       nest.for %m : serial to 6 {
// CHECK-NEXT:    nest.load %A[16*%m + %i] : memref<100xf32, 1 : i32>
// CHECK:       nest.for [[M:%m_[0-9]+]] = 6 to 7 : serial {
"gpu.module"() <{sym_name = "phases"}> ({
  "gpu.func"() <{function_type = (memref<100xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<100xf32, 1 : i32>):
    nest.for %i : local.x to 16 {
      nest.for %k : serial to 7 {
        %a = nest.load %A[%i + 16*%k] if %i + 16*%k < 100 : memref<100xf32, 1 : i32>
      }
      nest.for %m : serial to 7 {
        %b = nest.load %A[%i + 16*%m] if %i + 16*%m < 100 : memref<100xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// A loop whose tiles nest-pipeline will still fetch ahead is not split.
// CHECK-LABEL: sym_name = "waits"
// CHECK:       nest.for %k : serial to 7 {
// CHECK-NEXT:    nest.buffer copies 2
// CHECK-NOT:   nest.for
"gpu.module"() <{sym_name = "waits"}> ({
  "gpu.func"() <{function_type = (memref<100xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<100xf32, 1 : i32>):
    nest.for %i : local.x to 16 {
      nest.for %k : serial to 7 {
        %tile = nest.buffer copies 2 : memref<16xf32, 3 : i32>
        %a = nest.load %A[%i + 16*%k] if %i + 16*%k < 100 : memref<100xf32, 1 : i32>
        nest.store %a, %tile[%i] : f32, memref<16xf32, 3 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// The condition stands inside serial loops over tiles where that takes more tests away.
// CHECK-LABEL: sym_name = "tiles"
// CHECK:       nest.for %t : serial to 9 {
// CHECK-NEXT:    nest.if 1 <= %t and %t < 8 {
// CHECK-NEXT:      nest.for %v : vector to 8 {
// CHECK-NEXT:        nest.load %A[8*%t + %v - 1] : memref<68xf32, 1 : i32>
// CHECK-NEXT:        nest.load %A[8*%t + %v] : memref<68xf32, 1 : i32>
// CHECK-NEXT:      }
// CHECK-NEXT:    } else {
"gpu.module"() <{sym_name = "tiles"}> ({
  "gpu.func"() <{function_type = (memref<68xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<68xf32, 1 : i32>):
    nest.for %g : group.x to 4 {
      nest.for %t : serial to 9 {
        nest.for %v : vector to 8 {
          %a = nest.load %A[8*%t + %v - 1] if 1 <= 8*%t + %v : memref<68xf32, 1 : i32>
          %b = nest.load %A[8*%t + %v] if 8*%t + %v < 68 : memref<68xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// Every phase over a row has its last steps apart; another loop after them stays whole.
// CHECK-LABEL: sym_name = "phases"
// CHECK:       nest.for %i : serial to 7 {
// CHECK-NOT:     nest.if
// CHECK:       nest.for %i_1 = 7 to 8 : serial {
// CHECK-NEXT:    nest.for
// CHECK-NEXT:      nest.if
// CHECK:       nest.for %j : serial to 7 {
// CHECK-NOT:     nest.if
// CHECK:       nest.for %j_1 = 7 to 8 : serial {
// CHECK:       nest.for %k : serial to 16 {
// CHECK-NEXT:    nest.for
// CHECK-NEXT:      nest.if
"gpu.module"() <{sym_name = "phases"}> ({
  "gpu.func"() <{function_type = (memref<29xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<29xf32, 1 : i32>):
    nest.for %g : group.x to 8 {
      nest.for %i : serial to 8 {
        nest.for %l : unroll to 4 {
          nest.if 4*%i + %l < 29 {
            %a = nest.load %A[4*%i + %l] : memref<29xf32, 1 : i32>
            nest.store %a, %A[4*%i + %l] : f32, memref<29xf32, 1 : i32>
          }
        }
      }
      nest.for %j : serial to 8 {
        nest.for %l : unroll to 4 {
          nest.if 4*%j + %l < 29 {
            %a = nest.load %A[4*%j + %l] : memref<29xf32, 1 : i32>
            nest.store %a, %A[4*%j + %l] : f32, memref<29xf32, 1 : i32>
          }
        }
      }
      nest.for %k : serial to 16 {
        nest.for %l : unroll to 2 {
          nest.if 2*%k + %l < 29 {
            %a = nest.load %A[2*%k + %l] : memref<29xf32, 1 : i32>
            nest.store %a, %A[2*%k + %l] : f32, memref<29xf32, 1 : i32>
          }
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "phases"} : () -> ()
}) : () -> ()
