// Tiles of a matrix, transposed in a GPU's local memory: columns of 32 rows meet in one bank.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"type" = "gpu">>} {
  func.func @program(%x: tensor<8x32x32xf32> {tile.name = "x"}) -> (tensor<8x32x32xf32> {tile.name = "out"}) {
    %0 = lift.map_wrg(0)(%tile in %x) : (tensor<8x32x32xf32>) -> tensor<8x32x32xf32> {
      %1 = lift.map_lcl(1)(%row in %tile) : (tensor<32x32xf32>) -> tensor<32x32xf32> {
        %2 = lift.map_lcl(0)(%a in %row) : (tensor<32xf32>) -> tensor<32xf32> {
          lift.yield %a : f32
        }
        lift.yield %2 : tensor<32xf32>
      }
      %3 = lift.to_local %1 : (tensor<32x32xf32>) -> tensor<32x32xf32>
      %4 = lift.transpose %3 : (tensor<32x32xf32>) -> tensor<32x32xf32>
      %5 = lift.map_lcl(1)(%column in %4) : (tensor<32x32xf32>) -> tensor<32x32xf32> {
        %6 = lift.map_lcl(0)(%b in %column) : (tensor<32xf32>) -> tensor<32xf32> {
          lift.yield %b : f32
        }
        lift.yield %6 : tensor<32xf32>
      }
      lift.yield %5 : tensor<32x32xf32>
    }
    func.return %0 : tensor<8x32x32xf32>
  }
}
