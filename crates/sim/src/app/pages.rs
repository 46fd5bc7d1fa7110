//! The content of a client's pages.

use ackclock_core::distribution::Distribution;
use ackclock_core::rng::Generator;

use crate::scenario::{Content, Object};

/// Generates one page after another.
#[derive(Debug)]
pub(super) struct Pages {
    content: Content,
    roots: Generator,
    objects: Generator,
}

impl Pages {
    /// The pages of the application `name`.
    pub(super) fn new(content: &Content, name: &str, seed: u64) -> Self {
        let generator = |of| Generator::derived(seed, &format!("flow/{name}/{of}"));
        Self { content: content.clone(), roots: generator("root"), objects: generator("objects") }
    }

    /// Number of hosts that hold objects.
    pub(super) fn hosts(&self) -> usize {
        self.content.hosts() as usize
    }

    /// The objects of the next page, the root first.
    pub(super) fn next_page(&mut self) -> Vec<Object> {
        match &self.content {
            Content::Listed(objects) => objects.to_vec(),
            Content::Drawn { root, objects, object, request, hosts } => {
                let root = Object { host: 0, request: *request, response: bytes(root, &mut self.roots) };
                let object = |number| Object { host: number % hosts, request: *request, response: bytes(object, &mut self.objects) };
                std::iter::once(root).chain((1..=*objects).map(object)).collect()
            }
        }
    }
}

fn bytes(distribution: &Distribution, generator: &mut Generator) -> u64 {
    distribution.draw(generator).ceil().clamp(1.0, 1e15) as u64
}
