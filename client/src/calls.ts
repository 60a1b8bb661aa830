import type {
  Actions,
  DeleteSubjectValue,
  IdentifyParams,
  IdentifyValue,
  OneImageActions,
  UpdateSubjectParams,
  UpdateSubjectValue,
  VerifyParams,
  VerifyValue,
} from './contract.ts'
import type { ActionName, Executed, Item } from './envelope.ts'
import type { CallOptions } from './options.ts'
import type { Mode, Result } from './ending.ts'

export type OneImageCalls<Image, M extends Mode> = {
  readonly [Name in keyof OneImageActions]: (
    image: Image,
    params?: Omit<OneImageActions[Name]['params'], 'images'>,
    options?: CallOptions,
  ) => Result<M, OneImageActions[Name]['value']>
}

/** The subject that a face is compared with. */
export type SubjectName =
  | { readonly subjectId: string; readonly externalId?: string | undefined }
  | { readonly externalId: string; readonly subjectId?: undefined }

export type IdentifyOptions = Omit<IdentifyParams, 'images'>
export type VerifyOptions = Omit<VerifyParams, 'images' | 'mode' | 'subjectId' | 'externalId'>
export type SubjectChanges<Image> = Omit<UpdateSubjectParams, 'subjectId' | 'images'> & {
  /** Adds a template, under the guards of enrolment. */
  readonly image?: Image | undefined
}

/** The actions. Each call has a `requestId`, so that it is done and charged once. */
export interface Calls<Image, M extends Mode> extends OneImageCalls<Image, M> {
  /** Compare a face with another image, or with a subject of the gallery. Costs 2 units. */
  readonly verify: (
    probe: Image,
    reference: Image | SubjectName,
    params?: VerifyOptions,
    options?: CallOptions,
  ) => Result<M, VerifyValue>
  /** Search the gallery for the faces of one image, or of up to ten. Costs 2 units an image. */
  readonly identify: Identify<Image, M>
  /** Change a subject: ids, attributes, groups, templates, expiry. Free without an image. */
  readonly updateSubject: (
    subjectId: string,
    changes: SubjectChanges<Image>,
    options?: CallOptions,
  ) => Result<M, UpdateSubjectValue>
  /** Delete a subject for ever; the record of it stays. Free. */
  readonly deleteSubject: (
    subjectId: string,
    options?: CallOptions,
  ) => Result<M, DeleteSubjectValue>
  /** Any action, with the parameters and results of the wire. */
  readonly execute: <Name extends ActionName>(
    action: Name,
    params: Actions[Name]['params'],
    options?: CallOptions,
  ) => Result<M, Executed<Actions[Name]['value']>>
}

export type Identify<Image, M extends Mode> = {
  (image: Image, params?: IdentifyOptions, options?: CallOptions): Result<M, IdentifyValue>
  /** One result an image; the call fails only when all of them do. */
  (
    images: readonly Image[],
    params?: IdentifyOptions,
    options?: CallOptions,
  ): Result<M, readonly Item<IdentifyValue>[]>
}
