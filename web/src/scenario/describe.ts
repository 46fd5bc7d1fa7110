// What the engine's `describe` tells about scenarios, as far as menus and the editor need it.

import type { Schema } from "./schema.ts";

/** A parameter of a part, as the registry declares it. */
export interface PartParameter {
  name: string;
  kind: string;
  unit: string | null;
  bounds: [number, number] | null;
  doc: string;
  /** The axis of a part inside the part. */
  axis?: string;
}

/** A part of the registry. */
export interface Part {
  name: string;
  summary: string;
  reference: string;
  params: PartParameter[];
  /** The opening comment of its file, in Markdown: a title and its sections. */
  header: string;
}

/** A preset: a name that stands for keys. */
export interface Preset {
  name: string;
  summary: string;
  notes: string;
}

/** A preset of end hosts. */
export interface Host extends Preset {
  /** Oldest and newest version. */
  versions: [string, string] | null;
}

/** How axes and keys relate. */
export interface Relations {
  axes: Record<
    string,
    { noun: string; usual: string; none: string | null; shorthand: { part: string; parameter: string } | null }
  >;
  /** The kind of distribution that a quantity alone stands for. */
  drawn: string;
  /** Keys of a flow that only one profile of hosts has. */
  profiles: Record<string, string[]>;
  /** Axes that a whole congestion control replaces. */
  replaced: string[];
  /** Keys of a chain that its `links` replace. */
  listed: string[];
  /** Profiles whose connections have several streams. */
  streams: string[];
}

export interface Describe {
  schema: Schema;
  parts: Record<string, Part[]>;
  hosts: Host[];
  /** Presets of links. */
  links: Preset[];
  relations: Relations;
}
