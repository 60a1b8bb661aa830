// oxlint-disable max-lines -- one table of shapes.
/**
 * What the console's routes answer, by their path. Times are ISO 8601 UTC, money is a text of whole
 * micro-units, durations are milliseconds.
 */
export type Answers = {
  readonly '/session': Session
  readonly '/overview': Overview
  readonly '/projects': { readonly items: readonly Project[] }
  readonly '/projects/:projectId': Project
  readonly '/projects/:projectId/gallery-mode-preview': GalleryModePreview
  readonly '/keys': Page<Key>
  readonly '/permissions': readonly Permission[]
  readonly '/actions': readonly ActionFacts[]
  readonly '/errors': readonly ErrorFacts[]
  readonly '/projects/:projectId/subjects': Page<Subject>
  readonly '/projects/:projectId/subjects/:subjectId': SubjectDetail
  readonly '/projects/:projectId/groups': Page<Group>
  readonly '/projects/:projectId/groups/:name': { readonly group: string; readonly count: number }
  readonly '/projects/:projectId/deletions': Page<Deletion>
  readonly '/projects/:projectId/deletions/check': Check
  readonly '/log': Page<Call>
  readonly '/log/:callId': CallDetail
  readonly '/analytics/calls': CountSeries
  readonly '/analytics/latency': LatencySeries
  readonly '/analytics/scores': ScoreHistogram
  readonly '/analytics/spend': SpendSeries
  readonly '/money': Money
  readonly '/money/ledger': Page<Transfer>
  readonly '/money/verify': { readonly ok: boolean; readonly checks: readonly NamedCheck[] }
  readonly '/money/reconcile': Reconciliation
  readonly '/models': Models
  readonly '/users': { readonly items: readonly User[] }
  readonly '/audit': Page<AuditEntry>
  readonly '/system': SystemFacts
}

/** A part of a list and where the next part begins. */
export type Page<Item> = { readonly items: readonly Item[]; readonly nextCursor: string | null }

export type Role = 'owner' | 'admin' | 'viewer'

export type Session = {
  readonly state: 'setup' | 'signedOut' | 'signedIn'
  readonly user?: { readonly userId: string; readonly name: string; readonly role: Role }
  readonly csrfToken?: string
  readonly currency: string
  readonly version: string
}

export type Alert = {
  readonly kind: string
  readonly severity: 'info' | 'warning' | 'critical'
  readonly text: string
  readonly projectId?: string
  readonly keyId?: string
}

export type Budget = {
  readonly projectId: string
  readonly name: string
  readonly balanceMicros: string
  readonly reservedMicros: string
  readonly allocatedMicros: string
}

export type Overview = {
  readonly calls: number
  readonly okShare: number | null
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly spentMicros: string
  readonly billed: number
  readonly budgets: readonly Budget[]
  readonly walletMicros: string
  readonly topErrors: readonly { readonly code: string; readonly count: number }[]
  readonly galleries: readonly {
    readonly galleryId: string
    readonly name: string
    readonly subjects: number
    readonly templates: number
  }[]
  readonly series: readonly {
    readonly atUtc: string
    readonly calls: number
    readonly errors: number
  }[]
  readonly alerts: readonly Alert[]
}

export type Project = {
  readonly projectId: string
  readonly name: string
  readonly galleryMode: string
  readonly createdAtUtc: string
  readonly sustainedPerS: number
  readonly burst: number
  readonly isSustainedDefault: boolean
  readonly isBurstDefault: boolean
  readonly retentionDays: number | null
  readonly identifyThreshold: number | null
  readonly switches: Readonly<Record<string, boolean>>
  readonly budgetMicros: string
  readonly reservedMicros: string
  readonly keyCount: number
  readonly subjects: number
  readonly templates: number
}

export type GalleryModePreview = {
  readonly from: string
  readonly to: string
  readonly statement: string
  readonly subjectsSeenNow: number
  readonly subjectsSeenThen: number
}

export type Key = {
  readonly keyId: string
  readonly name: string
  readonly prefix: string
  readonly last4: string
  readonly projectId: string
  readonly projectName: string
  readonly permissions: readonly string[]
  readonly state: 'active' | 'revoked' | 'expired'
  readonly createdAtUtc: string
  readonly expiresAtUtc: string | null
  readonly revokedAtUtc: string | null
  readonly lastUsedAtUtc: string | null
}

export type Permission = { readonly permission: string; readonly summary: string }

export type ActionFacts = {
  readonly name: string
  readonly summary: string
  readonly price: string | number
  readonly paramsSchema: unknown
  readonly example: unknown
  readonly imagesMin: number
  readonly imagesMax: number
}

export type ErrorFacts = {
  readonly code: string
  readonly message: string
  readonly remedy?: string
  readonly http: number
}

/** What the playground hands back of a call. */
export type PlaygroundAnswer = {
  readonly envelope: unknown
  readonly latencyMs: number
  readonly costMicros: string
  readonly status: number
}

export type Subject = {
  readonly subjectId: string
  readonly externalId: string | null
  readonly displayName: string | null
  readonly groups: readonly string[]
  readonly attributes: Readonly<Record<string, unknown>>
  readonly embeddingCount: number
  readonly createdAtUtc: string
  readonly expiresAtUtc: string | null
}

export type SubjectDetail = Subject & {
  readonly faces: readonly {
    readonly faceId: string
    readonly quality: number | null
    readonly model: string
    readonly createdAtUtc: string
  }[]
}

export type Group = { readonly name: string; readonly subjectCount: number }

export type Deletion = {
  readonly subjectId: string
  readonly externalId: string | null
  readonly deletedAtUtc: string
  readonly deletedBy: string
  readonly requestId: string | null
  readonly embeddingsRemoved: number
}

export type Check = { readonly ok: boolean; readonly detail: string }
export type NamedCheck = Check & { readonly name: string }

export type Call = {
  readonly callId: string
  readonly atUtc: string
  readonly keyId: string
  readonly keyName: string
  readonly projectId: string
  readonly projectName: string
  readonly requestId: string
  readonly action: string
  readonly code: string | null
  readonly ok: boolean
  readonly latencyMs: number
  readonly costMicros: string
  readonly billed: boolean
  readonly isReplay: boolean
}

export type CallDetail = Call & { readonly transfer?: Transfer; readonly attempt?: unknown }

export type CountSeries = {
  readonly buckets: readonly string[]
  readonly series: readonly {
    readonly id: string
    readonly name: string
    readonly counts: readonly number[]
    readonly total: number
  }[]
}

export type LatencySeries = {
  readonly buckets: readonly string[]
  readonly p50: readonly (number | null)[]
  readonly p95: readonly (number | null)[]
  readonly p99: readonly (number | null)[]
  readonly overall: {
    readonly p50: number | null
    readonly p95: number | null
    readonly p99: number | null
  }
}

export type ScoreHistogram = {
  readonly edges: readonly number[]
  readonly counts: readonly number[]
  readonly threshold: number | null
  readonly matched: number
  readonly total: number
}

export type SpendSeries = {
  readonly buckets: readonly string[]
  readonly series: readonly {
    readonly id: string
    readonly name: string
    readonly micros: readonly string[]
    readonly totalMicros: string
  }[]
}

export type Money = {
  readonly walletMicros: string
  readonly currency: string
  readonly projects: readonly (Budget & { readonly spentMicros: string })[]
  readonly prices: readonly {
    readonly action: string
    readonly unitMicros: string
    readonly isDefault: boolean
    readonly units: number
  }[]
}

export type Posting = { readonly ledger: string; readonly amountMicros: string }

export type Transfer = {
  readonly transferId: string
  readonly atUtc: string
  readonly kind: string
  readonly fromLedger: string
  readonly toLedger: string
  readonly amountMicros: string
  readonly projectId: string | null
  readonly projectName: string | null
  readonly requestId: string | null
  readonly callId: string | null
  readonly postings: readonly Posting[]
}

export type Reconciliation = {
  readonly logMicros: string
  readonly ledgerMicros: string
  readonly billedCalls: number
  readonly charges: number
  readonly ok: boolean
}

export type ModelFacts = {
  readonly role: string
  readonly id: string
  readonly version: string
  readonly licence: string
  readonly commercialUse: boolean
  readonly sha256: string
  readonly file: string
  readonly bytes: number
  readonly builtIn: boolean
}

export type CalibrationPoint = {
  readonly fmr: number
  readonly similarity: number
  readonly score: number
  readonly source: string
}

export type Models = {
  readonly active: readonly ModelFacts[]
  readonly installed: readonly ModelFacts[]
  readonly calibration: {
    readonly modelId: string
    readonly set: string
    readonly measuredOn: string
    readonly points: readonly CalibrationPoint[]
  } | null
  readonly comparable: readonly { readonly modelId: string; readonly faces: number }[]
}

export type User = {
  readonly userId: string
  readonly name: string
  readonly role: Role
  readonly createdAtUtc: string
  readonly lastSeenAtUtc: string | null
  readonly disabled: boolean
}

export type AuditEntry = {
  readonly auditId: string
  readonly atUtc: string
  readonly userId: string | null
  readonly userName: string | null
  readonly act: string
  readonly target: string | null
  readonly detail: unknown
  readonly ip: string | null
}

export type SystemFacts = {
  readonly version: string
  readonly uptimeS: number
  readonly ready: boolean
  readonly reasons: readonly string[]
  readonly workers: {
    readonly up: number
    readonly busy: number
    readonly queued: number
    readonly queuedBytes: number
    readonly respawns: number
    readonly recycled: number
    readonly poisoned: number
  }
  readonly memory: { readonly rssBytes: number; readonly heapBytes: number }
  readonly disk: {
    readonly freeBytes: number
    readonly totalBytes: number
    readonly databaseBytes: number
    readonly modelsBytes: number
  }
  readonly gallery: { readonly templates: number; readonly bytes: number }
  readonly store: { readonly kind: string; readonly path?: string }
  readonly metricsUrl: string
  readonly node: string
  readonly settings: readonly {
    readonly name: string
    readonly value: string
    readonly isDefault: boolean
  }[]
}
