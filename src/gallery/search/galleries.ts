import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Arena } from './arena.ts'
import type { Change } from './change.ts'
import { rank } from './rank.ts'
import type { Candidate, SearchOptions } from './candidate.ts'
import type { Face } from '../score.ts'
import { openTable } from './table.ts'
import type { Table } from './table.ts'
import type { Team } from './team.ts'

/** All galleries, in the thread that owns them. */
export type Galleries = {
  readonly apply: (galleryId: string, changes: Iterable<Change>) => GalleryState
  readonly search: (galleryId: string, question: GalleryQuestion) => Candidate[]
  /** Forgets a gallery at once and resolves when all it held has been zeroed. */
  readonly drop: (galleryId: string) => Promise<void>
}

export type GalleryState = {
  /** Of the last change applied. */
  readonly sequence: number
  /** Model → templates. */
  readonly sizes: ReadonlyMap<string, number>
  /** Memory that its rows take. */
  readonly bytes: number
}

export type GalleryQuestion = {
  readonly modelId: string
  readonly probe: Face
  readonly options: SearchOptions
}

type Gallery = { sequence: number; readonly tables: Map<string, Table> }

export function openGalleries(arena: Arena, team: Team): Galleries {
  const galleries = new Map<string, Gallery>()
  return {
    apply: (galleryId, changes) => {
      const gallery = galleries.get(galleryId) ?? { sequence: 0, tables: new Map() }
      galleries.set(galleryId, gallery)
      for (const change of changes) {
        if (change.sequence < gallery.sequence) continue
        applyChange(arena, gallery, change)
        gallery.sequence = change.sequence
      }
      return stateOf(gallery)
    },
    search: (galleryId, { modelId, probe, options }) => {
      const table = galleries.get(galleryId)?.tables.get(modelId)
      if (!table) return []
      assert.equal(probe.vector.length, table.dimensions, 'the probe has the model’s dimensions')
      return rank(table, team, probe, options)
    },
    drop: async (galleryId) => {
      const gallery = galleries.get(galleryId)
      galleries.delete(galleryId)
      for (const table of gallery?.tables.values() ?? [])
        // Searches of other galleries take their turn between two blocks.
        for (const _ of table.clear()) await nextTurn()
    },
  }
}

function stateOf({ sequence, tables }: Gallery): GalleryState {
  const sizes = new Map<string, number>()
  let bytes = 0
  for (const [modelId, table] of tables) {
    sizes.set(modelId, table.size())
    bytes += table.bytes()
  }
  return { sequence, sizes, bytes }
}

function applyChange(arena: Arena, { tables }: Gallery, change: Change): void {
  const { templateId, template } = change
  for (const [modelId, table] of tables) {
    if (modelId === template?.modelId) continue
    table.remove(templateId)
    // After a change of the model the old one's rows would be kept for nothing.
    if (template && table.size() === 0) dropTable(tables, modelId)
  }
  if (!template) return
  const table = tables.get(template.modelId) ?? openTable(arena, template.vector.length)
  tables.set(template.modelId, table)
  table.put({ templateId, ...template })
}

function dropTable(tables: Map<string, Table>, modelId: string): void {
  for (const _ of tables.get(modelId)?.clear() ?? []);
  tables.delete(modelId)
}
