import type { Calls, Identify, OneImageCalls, SubjectName } from './calls.ts'
import { oneImageActions, type Actions, type ImageItem } from './contract.ts'
import { onlyValue, type Ending, type Mode } from './ending.ts'
import type { ActionName, Executed } from './envelope.ts'
import type { CallOptions } from './options.ts'

/** Sends an action. @throws FacegateError. */
export type Execute = <Name extends ActionName>(
  action: Name,
  params: Actions[Name]['params'],
  options: CallOptions | undefined,
) => Promise<Executed<Actions[Name]['value']>>

export type CallTools<Image, M extends Mode> = {
  readonly execute: Execute
  readonly toItem: (image: Image) => Promise<ImageItem>
  readonly end: Ending<M>
}

/** The methods of the actions, which end as the mode says. */
export function createCalls<Image, M extends Mode>(tools: CallTools<Image, M>): Calls<Image, M> {
  const { execute, end } = tools
  return {
    ...oneImageCalls(tools),
    verify: verifyCall(tools),
    identify: identifyCall(tools),
    updateSubject: updateCall(tools),
    deleteSubject: (subjectId, options) =>
      end(execute('svc.deleteSubject', { subjectId }, options), onlyValue),
    execute: (action, params, options) => end(execute(action, params, options), (all) => all),
  }
}

function oneImageCalls<Image, M extends Mode>({ execute, toItem, end }: CallTools<Image, M>) {
  const callOf = (action: (typeof oneImageActions)[keyof typeof oneImageActions]) => {
    const run = async (image: Image, params: object, options?: CallOptions) =>
      execute(action, { ...params, images: [await toItem(image)] }, options)
    return (image: Image, params: object = {}, options?: CallOptions) =>
      end<unknown, unknown>(run(image, params, options), onlyValue)
  }
  const calls = Object.entries(oneImageActions).map(([name, action]) => [name, callOf(action)])
  // Built from the table that its type is made of.
  return Object.fromEntries(calls) as OneImageCalls<Image, M>
}

function verifyCall<Image, M extends Mode>(tools: CallTools<Image, M>): Calls<Image, M>['verify'] {
  const { execute, toItem, end } = tools
  type Arguments = Parameters<Calls<Image, M>['verify']>
  const run = async (...[probe, reference, params, options]: Arguments) => {
    const item = await toItem(probe)
    const named = isSubjectName(reference)
      ? { ...reference, images: [item] }
      : { images: [item, await toItem(reference)] }
    return execute('svc.verify', { ...params, ...named }, options)
  }
  return (...call) => end(run(...call), onlyValue)
}

function isSubjectName(reference: unknown): reference is SubjectName {
  if (typeof reference !== 'object' || reference === null) return false
  return 'subjectId' in reference || 'externalId' in reference
}

function identifyCall<Image, M extends Mode>(tools: CallTools<Image, M>): Identify<Image, M> {
  const { execute, toItem, end } = tools
  type Options = readonly [params?: Parameters<Identify<Image, M>>[1], options?: CallOptions]
  const run = async (list: readonly Image[], [params, options]: Options) =>
    execute('svc.identify', { ...params, images: await Promise.all(list.map(toItem)) }, options)
  const call = (images: Image | readonly Image[], ...rest: Options) =>
    isList(images)
      ? end(run(images, rest), ({ results }) => results)
      : end(run([images], rest), onlyValue)
  // One function answers both forms; which answer goes with which is what its overloads tell.
  return call as Identify<Image, M>
}

function isList<Image>(images: Image | readonly Image[]): images is readonly Image[] {
  return Array.isArray(images)
}

function updateCall<Image, M extends Mode>({ execute, toItem, end }: CallTools<Image, M>) {
  type Call = Calls<Image, M>['updateSubject']
  const run = async (...[subjectId, { image, ...changes }, options]: Parameters<Call>) => {
    const images = image === undefined ? {} : { images: [await toItem(image)] }
    return execute('svc.updateSubject', { ...changes, subjectId, ...images }, options)
  }
  const call: Call = (...all) => end(run(...all), onlyValue)
  return call
}
