/** The data of each event, by its type. Times are ISO 8601 in UTC; amounts are digits in text. */
export type WebhookEventData = {
  readonly 'budget.low': BudgetEventData
  readonly 'budget.exhausted': BudgetEventData
  readonly 'key.expiring': {
    readonly keyId: string
    readonly name: string
    readonly prefix: string
    readonly last4: string
    readonly expiresAtUtc: string
    /** The notice: 14 or 1 days before the expiry. */
    readonly days: number
  }
  readonly 'camera.changed': {
    readonly keyId: string
    readonly name: string
    readonly prefix: string
    readonly last4: string
    /** What became worse, for example the share of calls without a face. */
    readonly changes: readonly CameraChange[]
  }
  readonly 'subject.expired': {
    readonly subjectId: string
    readonly externalId: string | null
    /** Its expiry, or the time without a match after which the project deletes subjects. */
    readonly reason: 'expiresAtUtc' | 'retention'
    readonly deletedAtUtc: string
  }
  readonly 'identify.matched': {
    /** In lower case. */
    readonly requestId: string
    readonly keyId: string
    /** The best match of each face that has one. */
    readonly matches: readonly WebhookMatch[]
    /** The number of further faces, beyond 64 KiB. The response of the call contains them. */
    readonly omitted?: number
  }
  readonly 'identify.unmatched': {
    readonly requestId: string
    readonly keyId: string
    /** Each face that matches no subject. */
    readonly faces: readonly WebhookUnmatchedFace[]
    /** See identify.matched. */
    readonly omitted?: number
  }
  readonly 'visitor.returned': {
    readonly requestId: string
    readonly keyId: string
    /** Each face of an unknown person of earlier calls. */
    readonly faces: readonly WebhookVisitor[]
    /** See identify.matched. */
    readonly omitted?: number
  }
  readonly 'webhook.test': { readonly webhookId: string }
}

type BudgetEventData = {
  /** The remaining budget in millionths of the currency. */
  readonly balanceMicros: string
  /** The event was due at this balance or a lower one. */
  readonly thresholdMicros: string
}

export type CameraChange = {
  readonly measure: 'withoutFace' | 'quality' | 'unmatched' | 'nearMisses' | 'similarity'
  /** Of the four weeks before. Shares and similarities are 0..1, qualities 0..100. */
  readonly before: number
  /** Of the last week. */
  readonly after: number
  /** A sentence without a full stop. */
  readonly text: string
}

export type WebhookMatch = {
  /** The element of `results` in the response of the call. */
  readonly resultIndex: number
  readonly faceIndex: number
  /** `ambiguous`: the next subject is so near that it is likely to be the right one. */
  readonly outcome: 'match' | 'ambiguous'
  readonly subjectId: string
  readonly externalId: string | null
  /** The groups of the subject. */
  readonly groups: readonly string[]
  readonly faceId: string
  readonly similarity: number
  readonly threshold: number
}

export type WebhookUnmatchedFace = {
  readonly resultIndex: number
  readonly faceIndex: number
  /** To the most similar subject; null if there is none. */
  readonly similarity: number | null
  readonly threshold: number
  /** Only if the project stores unknown people. */
  readonly visitorId?: string
}

export type WebhookVisitor = {
  readonly resultIndex: number
  readonly faceIndex: number
  readonly visitorId: string
  /** The number of pictures, with this one. */
  readonly visitCount: number
  readonly previousSeenAtUtc: string
  /** To the visitor. */
  readonly similarity: number
}

/** An event as a webhook receives it. A repeated delivery has the same `id`. */
export type WebhookEvent = {
  [Type in keyof WebhookEventData]: {
    readonly id: string
    readonly type: Type
    readonly createdAtUtc: string
    readonly projectId: string
    readonly data: WebhookEventData[Type]
  }
}[keyof WebhookEventData]
