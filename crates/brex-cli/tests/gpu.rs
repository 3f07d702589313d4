//! The command on a GPU, or on Mesa's software Vulkan; says so and passes where wgpu finds neither.

mod common;

use common::Sandbox;

#[test]
fn an_agent_learns_and_plays_on_a_gpu() {
    let sandbox = Sandbox::new();
    let small = "--steps 512 --environments 8 --horizon 32 --policies 1";
    let train = |device: &str| {
        let words = format!("train pocket:breakout --device {device} {small} --out {device}");
        sandbox.brex(&words)
    };
    let ran = train("wgpu");
    if ran.stderr.contains("there is no device") {
        assert_eq!(ran.code, Some(2));
        println!("SKIPPED: {}", ran.stderr.trim());
        return;
    }
    ran.expect(0);
    train("cpu").expect(0);
    // The same episodes of the same lengths were played: what differs is the last digit of a loss.
    let played = |device: &str| {
        let curve = sandbox.read(&format!("{device}/curve.csv"));
        let rows = curve
            .lines()
            .map(|row| row.split(',').take(4).collect::<Vec<_>>().join(","));
        rows.collect::<Vec<String>>()
    };
    assert_eq!(played("wgpu"), played("cpu"));
    let policy = "wgpu/policies/000002.safetensors";
    sandbox
        .brex(&format!(
            "rollout pocket:breakout --policy {policy} --device wgpu --episodes 2"
        ))
        .expect(0);
}

#[test]
fn a_gpu_that_is_not_there_is_named() {
    let sandbox = Sandbox::new();
    let ran = sandbox.brex("train pocket:breakout --device wgpu:99 --out training");
    ran.expect(2);
    assert!(!sandbox.path("training").exists());
}
