import assert from 'node:assert/strict'
import { setImmediate as nextEventLoopTurn } from 'node:timers/promises'
import type { SharedMemory } from '../scan/shared-memory.ts'
import type { IndexChange } from './index-change.ts'
import { unpackSections, type PackedRows, type SectionHeader } from '../load/packed-rows.ts'
import { rankTable, type IndexSearchOptions } from '../scored-subject.ts'
import type { TemplateVector } from '../../calibration/similarity.ts'
import { leadBytes, rowBytes } from '../scan/row-layout.ts'
import { leadRowsMin, openTemplateTable, type TemplateTable } from '../table/template-table.ts'
import type { ScanPool } from './scan-pool.ts'

export type GalleryLoad = {
  /** The last possible change of the subjects. The sequence of the gallery becomes this number. */
  readonly sequence: number
  /** The number of subjects that the gallery will have. */
  readonly subjectCount: number
}

export type GalleryIndexState = {
  /** Sequence of the last applied change. */
  readonly sequence: number
  /** Model → number of rows and of the faces that they were merged from. */
  readonly sizes: ReadonlyMap<string, IndexSize>
  /** Memory of the rows. */
  readonly bytes: number
}

export type IndexSize = { readonly rows: number; readonly faces: number }

export type GalleryIndexQuery = {
  readonly modelId: string
  readonly probe: TemplateVector
  readonly options: IndexSearchOptions
}

type GalleryIndex = { sequence: number; readonly tables: Map<string, TemplateTable> }

/** Opens the indexes of all galleries. They belong to the index thread. */
export function openGalleryIndexes(sharedMemory: SharedMemory, scanPool: ScanPool) {
  const galleries = new Map<string, GalleryIndex>()
  const openGallery = (galleryId: string): GalleryIndex => {
    const gallery = galleries.get(galleryId) ?? { sequence: 0, tables: new Map() }
    galleries.set(galleryId, gallery)
    return gallery
  }
  return {
    apply: (galleryId: string, changes: Iterable<IndexChange>): GalleryIndexState => {
      const gallery = openGallery(galleryId)
      for (const change of changes) {
        if (change.sequence < gallery.sequence) continue
        applyChange(sharedMemory, gallery, change)
        gallery.sequence = change.sequence
      }
      return stateOf(gallery)
    },
    /** Adds templates of subjects that are not in the index. Zeroes the bytes. */
    load: (
      galleryId: string,
      packed: readonly PackedRows[],
      { sequence, subjectCount }: GalleryLoad,
    ): GalleryIndexState => {
      const gallery = openGallery(galleryId)
      gallery.sequence = Math.max(gallery.sequence, sequence)
      for (const rows of packed) loadRows(sharedMemory, gallery, rows, subjectCount)
      return stateOf(gallery)
    },
    search: (galleryId: string, { modelId, probe, options }: GalleryIndexQuery) => {
      const table = galleries.get(galleryId)?.tables.get(modelId)
      if (!table) return []
      assert.equal(probe.vector.length, table.dimensions, 'the probe has the model’s dimensions')
      return rankTable(table, scanPool, probe, options)
    },
    /** Removes a gallery immediately and resolves when all its data has been zeroed. */
    drop: async (galleryId: string): Promise<void> => {
      const gallery = galleries.get(galleryId)
      galleries.delete(galleryId)
      for (const table of gallery?.tables.values() ?? [])
        // Between two blocks, other requests of the thread can run.
        for (const _ of table.clear()) await nextEventLoopTurn()
    },
  }
}

function stateOf({ sequence, tables }: GalleryIndex): GalleryIndexState {
  const sizes = new Map<string, IndexSize>()
  let bytes = 0
  for (const [modelId, table] of tables) {
    sizes.set(modelId, { rows: table.size(), faces: table.faces() })
    bytes += table.bytes()
  }
  return { sequence, sizes, bytes }
}

function applyChange(sharedMemory: SharedMemory, gallery: GalleryIndex, change: IndexChange): void {
  const { tables } = gallery
  const { subjectId, templates } = change
  for (const [modelId, table] of tables) {
    if (templates.some((template) => template.modelId === modelId)) continue
    table.remove(subjectId)
    // After a model change, this frees the memory of the former model.
    if (templates.length > 0 && table.size() === 0) dropTable(tables, modelId)
  }
  for (const template of templates) {
    const { modelId, vector } = template
    const owner = { modelId, dimensions: vector.length }
    openTable(sharedMemory, gallery, owner).put({ subjectId, ...template })
  }
}

function loadRows(
  sharedMemory: SharedMemory,
  gallery: GalleryIndex,
  rows: PackedRows,
  subjectCount: number,
): void {
  try {
    for (const section of unpackSections(rows))
      openTable(sharedMemory, gallery, section, subjectCount).load(section, rows.header.groupSets)
  } finally {
    new Uint8Array(rows.bytes).fill(0)
    rows.bytes.transfer(0)
  }
}

/** Returns the table of the model of templates. */
function openTable(
  sharedMemory: SharedMemory,
  { tables }: GalleryIndex,
  { modelId, dimensions }: Pick<SectionHeader, 'modelId' | 'dimensions'>,
  rowsExpected = 0,
): TemplateTable {
  const table = tables.get(modelId) ?? openNewTable(sharedMemory, dimensions, rowsExpected)
  tables.set(modelId, table)
  return table
}

/** A gallery that would not fit in memory with leads gets none. */
function openNewTable(sharedMemory: SharedMemory, dimensions: number, rowsExpected: number) {
  const bytes = rowsExpected * (rowBytes(dimensions) + leadBytes)
  const leadsFrom = sharedMemory.hasRoomForLeads(bytes) ? leadRowsMin : Number.POSITIVE_INFINITY
  return openTemplateTable(sharedMemory, dimensions, leadsFrom)
}

function dropTable(tables: Map<string, TemplateTable>, modelId: string): void {
  for (const _ of tables.get(modelId)?.clear() ?? []);
  tables.delete(modelId)
}
