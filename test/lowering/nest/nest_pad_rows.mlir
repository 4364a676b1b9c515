// RUN: tile-opt %s -p nest-pad-rows --split-input-file | filecheck %s

// The columns of a square are read side by side: a row gets an element more.
// CHECK:      %T = nest.buffer : memref<1056xf32, 3 : i32>
// CHECK:      nest.store %a, %T[33*%y + %x]
// CHECK:      %b = nest.load %T[33*%x + %y]
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"type" = "gpu", "platform" = "NVIDIA CUDA">>} {
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<1024xf32, 1 : i32>, %B: memref<1024xf32, 1 : i32>):
    %T = nest.buffer : memref<1024xf32, 3 : i32>
    nest.for %y : local.y to 32 {
      nest.for %x : local.x to 32 {
        %a = nest.load %A[32*%y + %x] : memref<1024xf32, 1 : i32>
        nest.store %a, %T[32*%y + %x] : f32, memref<1024xf32, 3 : i32>
        %b = nest.load %T[32*%x + %y] : memref<1024xf32, 3 : i32>
        nest.store %b, %B[32*%y + %x] : f32, memref<1024xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
}

// -----

// Vectors stay whole, whose conflicts count: rows of 16 elements, of which work-items read fours.
// The copies that take turns all have such rows.
// CHECK:      %T = nest.buffer {double = 2 : i64} : memref<2x320xf32, 3 : i32>
// CHECK:      nest.store %a, %T[0, 20*%x + 4*%c + %lane]
// CHECK:      %b = nest.load %T[1, 20*%x + 8] : memref<2x320xf32, 3 : i32>, vector<4xf32>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"type" = "gpu", "platform" = "NVIDIA CUDA">>} {
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<256xf32, 1 : i32>, memref<64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<256xf32, 1 : i32>, %B: memref<64xf32, 1 : i32>):
    %T = nest.buffer {double = 2 : i64} : memref<2x256xf32, 3 : i32>
    nest.for %x : local.x to 16 {
      nest.for %c : unroll to 4 {
        nest.for %lane : vector to 4 {
          %a = nest.load %A[16*%x + 4*%c + %lane] : memref<256xf32, 1 : i32>
          nest.store %a, %T[0, 16*%x + 4*%c + %lane] : f32, memref<2x256xf32, 3 : i32>
        }
      }
      %b = nest.load %T[1, 16*%x + 8] : memref<2x256xf32, 3 : i32>, vector<4xf32>
      nest.store %b, %B[4*%x] : vector<4xf32>, memref<64xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
}

// -----

// Left as they are: an access that goes on in the next row, one whose lanes meet anyhow, and what
// has no conflicts.
// CHECK:      %T = nest.buffer : memref<1025xf32, 3 : i32>
// CHECK:      %U = nest.buffer : memref<32xf32, 3 : i32>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"type" = "gpu", "platform" = "NVIDIA CUDA">>} {
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<1024xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<1024xf32, 1 : i32>):
    %T = nest.buffer : memref<1025xf32, 3 : i32>
    %U = nest.buffer : memref<32xf32, 3 : i32>
    nest.for %y : local.y to 32 {
      nest.for %x : local.x to 32 {
        %a = nest.load %A[32*%y + %x] : memref<1024xf32, 1 : i32>
        nest.store %a, %T[32*%x + %y] : f32, memref<1025xf32, 3 : i32>
        nest.store %a, %U[%x] : f32, memref<32xf32, 3 : i32>
        %b = nest.load %T[32*%y + %x + 1] : memref<1025xf32, 3 : i32>
        nest.store %b, %A[32*%y + %x] : f32, memref<1024xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
}

// -----

// There is no room: the device has local memory for the rows as they are.
// CHECK:      %T = nest.buffer : memref<1024xf32, 3 : i32>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"type" = "gpu", "local_mem_size" = 4096 : i64>>} {
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<1024xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<1024xf32, 1 : i32>):
    %T = nest.buffer : memref<1024xf32, 3 : i32>
    nest.for %y : local.y to 32 {
      nest.for %x : local.x to 32 {
        %a = nest.load %A[32*%y + %x] : memref<1024xf32, 1 : i32>
        nest.store %a, %T[32*%x + %y] : f32, memref<1024xf32, 3 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
}

// -----

// Rows of kernels that share a launch get the room that all of them leave.
// CHECK:      sym_name = "m1"
// CHECK:      %T = nest.buffer : memref<1056xf32, 3 : i32>
// CHECK:      %T = nest.buffer : memref<1024xf32, 3 : i32>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"type" = "gpu", "platform" = "NVIDIA CUDA", "local_mem_size" = 8384 : i64>>} {
"gpu.module"() <{sym_name = "m1"}> ({
  "gpu.func"() <{function_type = (memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<1024xf32, 1 : i32>, %B: memref<1024xf32, 1 : i32>):
    %T = nest.buffer : memref<1024xf32, 3 : i32>
    nest.for %y : local.y to 32 {
      nest.for %x : local.x to 32 {
        %a = nest.load %A[32*%y + %x] : memref<1024xf32, 1 : i32>
        nest.store %a, %T[32*%y + %x] : f32, memref<1024xf32, 3 : i32>
        %b = nest.load %T[32*%x + %y] : memref<1024xf32, 3 : i32>
        nest.store %b, %B[32*%y + %x] : f32, memref<1024xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f", gpu.known_block_size = array<i32: 32, 32, 1>, gpu.known_grid_size = array<i32: 1, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<1024xf32, 1 : i32>, %B: memref<1024xf32, 1 : i32>):
    %T = nest.buffer : memref<1024xf32, 3 : i32>
    nest.for %y : local.y to 32 {
      nest.for %x : local.x to 32 {
        %a = nest.load %A[32*%y + %x] : memref<1024xf32, 1 : i32>
        nest.store %a, %T[32*%y + %x] : f32, memref<1024xf32, 3 : i32>
        %b = nest.load %T[32*%x + %y] : memref<1024xf32, 3 : i32>
        nest.store %b, %B[32*%y + %x] : f32, memref<1024xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "g", gpu.known_block_size = array<i32: 32, 32, 1>, gpu.known_grid_size = array<i32: 1, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<1024xf32, 1 : i32>, %B: memref<1024xf32, 1 : i32>):
    nest.call @f(%A, %B) : memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>
    nest.call @g(%A, %B) : memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>
    "gpu.return"() : () -> ()
  }) {sym_name = "both", gpu.known_block_size = array<i32: 1024, 1, 1>, gpu.known_grid_size = array<i32: 2, 1, 1>} : () -> ()
}) : () -> ()
}
