// RUN: tile-opt %s --verify-diagnostics --parsing-diagnostics --split-input-file | filecheck %s

// CHECK: the loops over i have a gap or an overlap at stride 4
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x 4*i : 2, local.x i : 2, serial j : 8, serial k : 4> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the loops over i have a gap or an overlap at stride 2
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x 2*i : 4, local.x i : 4, serial j : 8, serial k : 4> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the loops over j reach 4 of its 8 values
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 4, serial k : 4> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the loops over k reach 1 of its 4 values
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 8> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the schedule has a loop over n, which is no index of the kernel
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 8, serial k : 4, serial n : 2> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the loop local.x j : 8 must come before the loops inside a work-item
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, serial k : 4, local.x j : 8> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: k is summed over, so no work-group can have it to itself: split the reduction first (tile-split-reduction)
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x k : 4, local.x i : 8, local.y j : 8> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the vector over j must be the innermost loop
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, vector j : 8, serial k : 4> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: there is no input 2 to stage
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 8, serial k : 4> stage <input 2 local> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the stage 'a local at 2*k' must be at a loop inside a work-item; these are:
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 8, serial k : 4> stage <%a local at 2*k> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the stage 'a local at j' must be at a loop inside a work-item; these are:
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 8, serial k : 4> stage <%a local at j> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the stage 'b local order (0, 0)' must order the axes 0 to 1
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 8, serial k : 4> stage <%b local order (0, 0)> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the stage 'b local copies 3' can have 1 or 2 copies
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 8, serial k : 4> stage <%b local copies 3> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the stage 'b private pad 1' is in registers: it has no copies, no padding and no rotated rows
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 8, serial k : 4> stage <%b private pad 1> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the stage 'b private copies 2' is in registers: it has no copies, no padding and no rotated rows
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 8, serial k : 4> stage <%b private copies 2> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the stage 'b local vector 0' moves at least one element
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 8, serial k : 4> stage <%b local vector 0> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: %c is no argument or named value of this kernel
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 8, serial k : 4> stage <%c local> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: expected a role (group, local, serial, unroll, vector), got warp
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <warp i : 8> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: expected group.x, group.y, group.z, got group
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group i : 8> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: expected unroll, got unroll.x
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <unroll.x i : 8> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: a step of a schedule moves its index by at least 1
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <serial 0*i : 8> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: sub_groups must be a power of two from 2 on, got 24
func.func @sum(%A: tensor<8x96xf32>) -> tensor<8xf32> {
  %S = tile.kernel(%a = %A : tensor<8x96xf32>) -> tensor<8xf32>
    schedule <group.x i : 8, local.x k : 96> sub_groups 24 {
    %s = tile.contraction add(%a[i, k]) -> [i] domain <i = 0 to 8, k = 0 to 96> : (tensor<8x96xf32>) -> tensor<8xf32>
    tile.yield %s : tensor<8xf32>
  }
  func.return %S : tensor<8xf32>
}

// -----

// CHECK: sub_groups 32 must divide the 48 work-items along x
func.func @sum(%A: tensor<8x96xf32>) -> tensor<8xf32> {
  %S = tile.kernel(%a = %A : tensor<8x96xf32>) -> tensor<8xf32>
    schedule <group.x i : 8, local.x k : 48, serial 48*k : 2> sub_groups 32 {
    %s = tile.contraction add(%a[i, k]) -> [i] domain <i = 0 to 8, k = 0 to 96> : (tensor<8x96xf32>) -> tensor<8xf32>
    tile.yield %s : tensor<8xf32>
  }
  func.return %S : tensor<8xf32>
}

// -----

// CHECK: sub-groups of 8 have nothing to join: the innermost local.x loop must be over an index that is summed over, and of an even number of steps
func.func @sum(%A: tensor<8x96xf32>) -> tensor<8xf32> {
  %S = tile.kernel(%a = %A : tensor<8x96xf32>) -> tensor<8xf32>
    schedule <local.x k : 96, local.x i : 8> sub_groups 8 {
    %s = tile.contraction add(%a[i, k]) -> [i] domain <i = 0 to 8, k = 0 to 96> : (tensor<8x96xf32>) -> tensor<8xf32>
    tile.yield %s : tensor<8xf32>
  }
  func.return %S : tensor<8xf32>
}

// -----

// CHECK: the stage 'b global order (1, 1)' must order the axes 0 to 1
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <serial i : 8, serial j : 8, serial k : 4> stage <%b global order (1, 1)> {
    %e = tile.exp %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %c = tile.contraction add(%e[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: Expected 'order'
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <serial i : 8, serial j : 8, serial k : 4> stage <%b global pad 4> {
    %e = tile.exp %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %c = tile.contraction add(%e[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the stage 'b global order (1, 0)' has another one in global memory
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <serial i : 8, serial j : 8, serial k : 4> stage <%b global order (1, 0), %b global order (0, 1)> {
    %e = tile.exp %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %c = tile.contraction add(%e[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the stage 'e global order (1, 0)' copies a value that the kernel computes
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <serial i : 8, serial j : 8, serial k : 4> stage <%e global order (1, 0)> {
    %e = tile.exp %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %c = tile.contraction add(%e[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the stage 'a global order (1, 0)' must be of an operand that a contraction alone reads, in a kernel without axes
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <serial i : 8, serial j : 8, serial k : 4> stage <%a global order (1, 0)> {
    %e = tile.exp %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %c = tile.contraction add(%e[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the stage 'a global order (0, 1) pad 4' pads rows with 0s, which change a result
func.func @largest(%A: tensor<8x4xf32>) -> tensor<8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>) -> tensor<8xf32>
    schedule <serial i : 8, serial k : 4> stage <%a global order (0, 1) pad 4> {
    %c = tile.contraction max(%a[i, k]) -> [i] domain <i = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>) -> tensor<8xf32>
    tile.yield %c : tensor<8xf32>
  }
  func.return %C : tensor<8xf32>
}

// -----

// CHECK: there is no input 7 to stage
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <serial i : 8, serial j : 8, serial k : 4> stage <input 7 global order (1, 0)> {
    %e = tile.exp %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %c = tile.contraction add(%e[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the unrolled loops (unroll, vector) have 20000 steps together; the limit is 16384
func.func @f(%A: tensor<20000xf32>) -> tensor<20000xf32> {
  %C = tile.kernel(%a = %A : tensor<20000xf32>) -> tensor<20000xf32> schedule <unroll d0 : 20000> {
    %c = tile.neg %a : (tensor<20000xf32>) -> tensor<20000xf32>
    tile.yield %c : tensor<20000xf32>
  }
  func.return %C : tensor<20000xf32>
}

// -----

// CHECK: pad stands twice in a stage
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 8, serial k : 4> stage <%a local pad 1 pad 2> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: expected local, private or global
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 8, serial k : 4> stage <%a near> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the stage 'b local async copies 5' must have 2, 3 or 4 copies to be fetched into
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 8, serial 2*k : 2, serial k : 2> stage <%b local async copies 5> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the stage 'b local at k' in local memory is inside a stage of the same operand in registers
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 8, serial 2*k : 2, serial k : 2> stage <%b private at 2*k, %b local at k> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the stage 'b local at k' is at the place of another one
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 8, serial 2*k : 2, serial k : 2> stage <%b local at k, %b local at k> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the stage 'b local at k copies 2' cannot be fetched ahead: it is copied from a tile
func.func @mm(%A: tensor<8x4xf32>, %B: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
    schedule <group.x i : 8, local.x j : 8, serial 2*k : 2, serial k : 2> stage <%b local at 2*k, %b local at k copies 2> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK: the loop local.x k : 2 divides elements among its work-items or lanes, but c assigns its elements
func.func @part(%A: tensor<8x1xf32>) -> tensor<8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x1xf32>) -> tensor<8xf32>
    schedule <local.x k : 2, serial i : 8> {
    %c = tile.contraction assign(%a[i, k]) -> [i] domain <i = 0 to 8, k = 0 to 1> : (tensor<8x1xf32>) -> tensor<8xf32>
    tile.yield %c : tensor<8xf32>
  }
  func.return %C : tensor<8xf32>
}

// -----

// CHECK: x is staged, but no contraction here reads it
func.func @f(%X: tensor<8xf32>) -> tensor<8xf32> {
  %R = tile.kernel(%x = %X : tensor<8xf32>) -> tensor<8xf32>
    schedule <local.x d0 : 8> stage <%x private> {
    %e = tile.exp %x : (tensor<8xf32>) -> tensor<8xf32>
    tile.yield %e : tensor<8xf32>
  }
  func.return %R : tensor<8xf32>
}
