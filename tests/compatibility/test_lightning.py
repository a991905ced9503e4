import lightning
import pytest
import torch
from torch.nn.functional import cross_entropy
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader


@pytest.mark.filterwarnings("ignore")  # lightning's advice on workers and intervals
def test_a_trainer_fits_clouds_and_resumes_from_its_checkpoint(net, tmp_path):
    class Module(lightning.LightningModule):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def training_step(self, data):
            loss = cross_entropy(self.net(data.x, batch=data.batch), data.y)
            self.log("loss", loss, batch_size=data.num_graphs)
            return loss

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), lr=0.01)

    lightning.seed_everything(0, verbose=False)
    clouds = [Data(x=torch.randn(12, 8), y=torch.randint(3, (12,))) for _ in range(6)]
    module = Module(net)
    start = net.classify.weight.detach().clone()
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
        default_root_dir=tmp_path, precision="bf16-mixed",
    )  # fmt: skip
    trainer.fit(module, DataLoader(clouds, batch_size=3))
    assert trainer.global_step == 4
    assert not torch.equal(net.classify.weight, start)
    trainer.save_checkpoint(tmp_path / "net.ckpt")
    again = Module.load_from_checkpoint(tmp_path / "net.ckpt", net=type(net)())
    assert torch.equal(again.net.eval()(clouds[0].x), net.eval()(clouds[0].x))
