// RUN: tile-opt %s -p tile-to-gpu -t opencl | sed -n 's/^    barrier.*/free/p; s/^     *barrier.*/branch/p' | filecheck %s --check-prefix=FREE

// PoCL is given no barrier in a branch.
// FREE:      free
// FREE-NEXT: free
// FREE-NOT:  branch
builtin.module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<
    "platform" = "Portable Computing Language">>} {
  func.func @di(%DO: tensor<3x8xf32> {tile.name = "DO"}, %K: tensor<2x8xf32> {tile.name = "K"}) -> (tensor<13xf32> {tile.name = "DI"}) {
    %DI = tile.kernel(%DO_1 = %DO : tensor<3x8xf32>, %K_1 = %K : tensor<2x8xf32>) -> tensor<13xf32> schedule <group.x v0_0 : 4, local.x v0_1 : 4, serial v2_0 : 8, serial v1_0 : 1> stage <%DO_1 local> {
      %DI_1 = tile.contraction add(%DO_1[v0_1 - v1_0, v2_0] mul %K_1[v0_0 + 4*v1_0, v2_0]) -> [v0_0 + 4*v0_1] where 0 <= v0_0 < 4 domain <v0_0 = 0 to 4, v0_1 = 0 to 4, v1_0 = 0 to 1, v2_0 = 0 to 8> : (tensor<3x8xf32>, tensor<2x8xf32>) -> tensor<13xf32>
      tile.yield %DI_1 : tensor<13xf32>
    }
    func.return %DI : tensor<13xf32>
  }
}

