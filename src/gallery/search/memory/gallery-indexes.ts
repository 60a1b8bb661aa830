import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SharedMemory } from '../scan/shared-memory.ts'
import type { IndexChange } from './index-change.ts'
import { rankTable } from './rank-table.ts'
import type { ScoredSubject, SearchOptions } from '../scored-subject.ts'
import type { TemplateVector } from '../../calibration/score.ts'
import { openTemplateTable } from '../table/template-table.ts'
import type { TemplateTable } from '../table/template-table.ts'
import type { ScanPool } from './scan-pool.ts'

/** All galleries, in the thread that owns them. */
export type GalleryIndexes = {
  readonly apply: (galleryId: string, changes: Iterable<IndexChange>) => GalleryIndexState
  readonly search: (galleryId: string, question: GalleryIndexQuery) => ScoredSubject[]
  /** Forgets a gallery at once and resolves when all it held has been zeroed. */
  readonly drop: (galleryId: string) => Promise<void>
}

export type GalleryIndexState = {
  /** Of the last change applied. */
  readonly sequence: number
  /** Model → templates. */
  readonly sizes: ReadonlyMap<string, number>
  /** Memory that its rows take. */
  readonly bytes: number
}

export type GalleryIndexQuery = {
  readonly modelId: string
  readonly probe: TemplateVector
  readonly options: SearchOptions
}

type GalleryIndex = { sequence: number; readonly tables: Map<string, TemplateTable> }

export function openGalleryIndexes(arena: SharedMemory, team: ScanPool): GalleryIndexes {
  const galleries = new Map<string, GalleryIndex>()
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
      return rankTable(table, team, probe, options)
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

function stateOf({ sequence, tables }: GalleryIndex): GalleryIndexState {
  const sizes = new Map<string, number>()
  let bytes = 0
  for (const [modelId, table] of tables) {
    sizes.set(modelId, table.size())
    bytes += table.bytes()
  }
  return { sequence, sizes, bytes }
}

function applyChange(arena: SharedMemory, { tables }: GalleryIndex, change: IndexChange): void {
  const { templateId, template } = change
  for (const [modelId, table] of tables) {
    if (modelId === template?.modelId) continue
    table.remove(templateId)
    // After a change of the model the old one's rows would be kept for nothing.
    if (template && table.size() === 0) dropTable(tables, modelId)
  }
  if (!template) return
  const table = tables.get(template.modelId) ?? openTemplateTable(arena, template.vector.length)
  tables.set(template.modelId, table)
  table.put({ templateId, ...template })
}

function dropTable(tables: Map<string, TemplateTable>, modelId: string): void {
  for (const _ of tables.get(modelId)?.clear() ?? []);
  tables.delete(modelId)
}
