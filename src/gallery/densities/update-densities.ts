import { setTimeout as sleep } from 'node:timers/promises'
import { cohortDensity } from '../../lib/density/cohort-density.ts'
import type { Log } from '../../lib/log.ts'
import { countTemplatesOfModel } from '../../store/gallery/densities/outdated-templates.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import type { Tx } from '../../store/tx.ts'
import type { Template } from '../../vision/embed/template.ts'
import { startDensityThread } from './start-density-thread.ts'
import type { DensityProgress, DensityUpdate } from './density-update.ts'
import {
  eraseSubjects,
  readOutdatedSubjects,
  replaceSubjects,
  sealUpdatedSubject,
} from './outdated-subjects.ts'
import { runUpdatePass, type UpdatePassDeps } from './update-pass.ts'

/**
 * The updates of templates whose model kept its vectors and changed its cohort. Until all templates of
 * a subject are updated, in one transaction, its faces are compared by the earlier version.
 */
export type DensityUpdates = {
  /**
   * Updates all templates. It stores no state: the rows themselves show what is left to do. It can
   * therefore be interrupted at any time, and run on several servers at once.
   */
  readonly run: (signal: AbortSignal) => Promise<void>
  readonly progress: () => DensityProgress
  /** Resolves when no template waits for an update to the model, or when the signal aborts. */
  readonly whenDone: (toModelId: string, signal: AbortSignal) => Promise<void>
  /** Returns the models without the earlier versions that no template needs any more. */
  readonly withoutUpdated: (modelIds: readonly string[]) => readonly string[]
  /** Returns the models and the later versions that their templates may have at any moment. */
  readonly withSuccessors: (modelIds: readonly string[]) => ReadonlySet<string>
  /** Returns a template of an earlier version as templates of the later versions. */
  readonly laterVersionsOf: (template: Template) => readonly Template[]
  /**
   * Updates a subject in the transaction that adds a template of the later version to it, so that a
   * subject never has templates of both versions. Must be called with the gallery locked.
   */
  readonly updateSubject: (
    tx: Tx,
    subject: Pick<SubjectRow, 'subjectId'>,
    added: Pick<Template, 'modelId'>,
  ) => Promise<void>
}

export type DensityUpdateDeps = UpdatePassDeps & {
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** Templates between two progress lines in the log. */
const templatesPerLogLine = 10_000
/** Pause after a pass in which other processes changed subjects, before they are read again. */
const conflictPauseMs = 200

export function createDensityUpdates(
  updates: readonly DensityUpdate[],
  deps: DensityUpdateDeps,
): DensityUpdates {
  const states = updates.map((update) => createUpdateState(update))
  const sum = (value: (state: UpdateState) => number): number =>
    states.reduce((total, state) => total + value(state), 0)
  return {
    run: async (signal) => {
      for (const state of states) await runUpdate(state, deps, signal)
    },
    progress: () => ({
      pending: sum(({ pending }) => pending),
      updated: sum(({ updated }) => updated),
      failed: sum(({ unreadable }) => unreadable.size),
    }),
    whenDone: async (toModelId, signal) => {
      const needed = states.filter(({ update }) => update.toModelId === toModelId)
      const { promise: aborted, resolve } = Promise.withResolvers<void>()
      if (signal.aborted) resolve()
      signal.addEventListener('abort', () => resolve(), { once: true })
      await Promise.race([aborted, Promise.all(needed.map(({ done }) => done.promise))])
    },
    withoutUpdated: (modelIds) =>
      modelIds.filter((modelId) =>
        states.every(({ update, isDone }) => !isDone || update.fromModelId !== modelId),
      ),
    withSuccessors: (modelIds) => {
      const all = new Set(modelIds)
      for (const { fromModelId, toModelId } of updates) if (all.has(fromModelId)) all.add(toModelId)
      return all
    },
    laterVersionsOf: ({ modelId, vector }) =>
      updates
        .filter(({ fromModelId }) => fromModelId === modelId)
        .map((update) => ({
          modelId: update.toModelId,
          vector,
          density: cohortDensity(vector, update),
        })),
    updateSubject: async (tx, { subjectId }, { modelId }) => {
      for (const { update, isDone } of states)
        if (!isDone && update.toModelId === modelId)
          await updateSubjectNow(tx, subjectId, update, deps)
    },
  }
}

type UpdateState = {
  readonly update: DensityUpdate
  readonly unreadable: Set<string>
  pending: number
  updated: number
  /** Whether the last run found no template that it could update. */
  isDone: boolean
  /** Resolves when that is so for the first time. */
  readonly done: PromiseWithResolvers<void>
}

function createUpdateState(update: DensityUpdate): UpdateState {
  const done = Promise.withResolvers<void>()
  return { update, unreadable: new Set(), pending: 0, updated: 0, isDone: false, done }
}

async function runUpdate(
  state: UpdateState,
  deps: DensityUpdateDeps,
  signal: AbortSignal,
): Promise<void> {
  const { update, unreadable } = state
  const count = (): Promise<number> =>
    deps.store.read((reading) => countTemplatesOfModel(reading, update.fromModelId))
  const found = await count()
  state.pending = Math.max(0, found - unreadable.size)
  if (state.pending > 0) {
    state.isDone = false
    if (!(await waitForEqualVersions(deps, signal))) return
    await updateAll(state, deps, signal)
    // Another server may still be updating some of them.
    state.pending = Math.max(0, (await count()) - unreadable.size)
  }
  state.isDone = state.pending === 0
  if (state.isDone) state.done.resolve()
}

async function updateAll(
  state: UpdateState,
  deps: DensityUpdateDeps,
  signal: AbortSignal,
): Promise<void> {
  const { update, unreadable } = state
  const { fromModelId, toModelId } = update
  const startMs = performance.now()
  const updatedBefore = state.updated
  const facts = () => ({
    fromModelId,
    toModelId,
    updated: state.updated,
    pending: state.pending,
    failed: unreadable.size,
  })
  deps.log.info(facts(), 'updating the densities of stored templates')
  const onUpdated = (templates: number): void => {
    const lines = Math.floor(state.updated / templatesPerLogLine)
    state.updated += templates
    state.pending = Math.max(0, state.pending - templates)
    if (Math.floor(state.updated / templatesPerLogLine) > lines)
      deps.log.info(facts(), 'updating the densities of stored templates')
  }
  const { cohort, neighbours } = update
  await using thread = startDensityThread({ cohort, neighbours })
  const pass = { update, thread, signal, unreadable, onUpdated }
  while (!(await runUpdatePass(pass, deps))) if (!(await pause(conflictPauseMs, signal))) return
  const seconds = Math.round((performance.now() - startMs) / 1000)
  const updated = state.updated - updatedBefore
  deps.log.info({ ...facts(), updated, seconds }, 'updated the densities of stored templates')
  if (unreadable.size > 0)
    deps.log.warn(
      { fromModelId, failed: unreadable.size },
      'templates that cannot be decrypted were not updated; they match nothing',
    )
}

/** A server of an earlier version cannot compare updated templates. */
const versionPollMs = 2_000

/**
 * Waits until all running servers have the same version, as after a rolling update.
 *
 * @returns false if the signal aborted.
 */
async function waitForEqualVersions(
  { store, log }: DensityUpdateDeps,
  signal: AbortSignal,
): Promise<boolean> {
  for (let isLogged = false; store.isShared; isLogged = true) {
    const { servers } = await store.readInfo()
    const versions = new Set(servers.map(({ version }) => version))
    if (versions.size <= 1) break
    if (!isLogged)
      log.info(
        { versions: [...versions] },
        'the densities of stored templates are updated when all servers run the same version',
      )
    if (!(await pause(versionPollMs, signal))) return false
  }
  return !signal.aborted
}

async function updateSubjectNow(
  tx: Tx,
  subjectId: string,
  update: DensityUpdate,
  deps: DensityUpdateDeps,
): Promise<void> {
  const { subjects } = await readOutdatedSubjects(tx, [subjectId], update, deps)
  const updated = subjects.map((subject) =>
    sealUpdatedSubject(
      subject,
      subject.faces.map(({ vector }) => cohortDensity(vector, update)),
      update,
    ),
  )
  await replaceSubjects(tx, updated, update, deps.search)
  eraseSubjects(subjects)
}

/** @returns false if the signal aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal, ref: false })
    return true
  } catch (error) {
    if (signal.aborted) return false
    throw error
  }
}
