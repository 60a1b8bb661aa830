import { callsChart, latencyChart, scoresChart, spendChart } from './analytics/charts.ts'
import { revertCalibration } from './pages/system/calibrations.ts'
import {
  applyMeasurement,
  discardMeasurement,
  getMeasurement,
  startMeasurement,
} from './pages/system/measurements.ts'
import { changeGroups, removeSubjects } from './pages/gallery/bulk-changes.ts'
import { getCrop, listCroppedFaces } from './pages/gallery/crops.ts'
import { checkDeletions, deletionsCsv, listDeletions } from './pages/gallery/deletions.ts'
import { previewGalleryMode } from './pages/gallery/gallery-mode.ts'
import { changeGroupName, countGroup, listAllGroups, removeGroup } from './pages/gallery/groups.ts'
import { importSubjects } from './pages/gallery/import-subjects.ts'
import { getHealth, setDistinct, startHealthCheck } from './pages/gallery/health.ts'
import { mergeIntoSubject, moveFace, undoMerge } from './pages/gallery/merge.ts'
import { editKey, endOverlap, rotateKeyById } from './pages/keys/key-changes.ts'
import { getKeyUsage } from './pages/keys/key-usage.ts'
import { listKeys, listPermissions, addKey, revokeKeyById } from './pages/keys/keys.ts'
import { getCall, listLog, logCsv } from './pages/call-log.ts'
import { getModels } from './pages/system/models.ts'
import { ledgerCsv, listLedger, reconcileLedger, verifyLedger } from './pages/money/ledger.ts'
import {
  allocateBudget,
  getMoney,
  setUnitPrice,
  topUpWallet,
} from './pages/money/wallet-and-budgets.ts'
import { getOverview } from './analytics/overview.ts'
import {
  createPlaygroundSession,
  getPlaygroundSettings,
  listActions,
  listErrors,
  runPlaygroundCall,
} from './pages/playground.ts'
import { previewLosses } from './pages/project-losses.ts'
import { previewThreshold } from './pages/project-thresholds.ts'
import { addProject, editProject, getProject, listProjects } from './pages/projects.ts'
import { listWebhookDeliveries, redeliverEvent } from './pages/webhooks/deliveries.ts'
import {
  addWebhook,
  editWebhook,
  listWebhooks,
  removeWebhook,
  rotateWebhookSecret,
  testWebhook,
} from './pages/webhooks/webhooks.ts'
import type { ConsoleRoute } from './server/console-route.ts'
import { changePassword, getSession, signIn, signOut } from './auth/sign-in.ts'
import {
  endOwnSession,
  endSessionOfUser,
  listSessions,
  listSessionsOfUser,
  signOutElsewhere,
} from './auth/open-sessions.ts'
import {
  beginSecondFactor,
  confirmSecondFactor,
  getSecondFactor,
  removeSecondFactor,
  renewRecoveryCodes,
} from './auth/second-factor/second-factor-routes.ts'
import { setUp } from './auth/setup.ts'
import {
  editSubject,
  getSubject,
  listSubjects,
  removeFace,
  removeSubject,
} from './pages/gallery/subjects.ts'
import { subjectsCsv } from './pages/gallery/subjects-csv.ts'
import { getSystemHistory } from './pages/system/history.ts'
import { downloadSupportBundle, getSystem } from './pages/system/system.ts'
import { auditCsv, listAudit, listAuditActions } from './pages/team/audit.ts'
import {
  countOpenSessions,
  editUser,
  endSessionsOfUser,
  inviteUser,
  listTeam,
  removeSecondFactorOfUser,
  resendInvite,
} from './pages/team/users.ts'

/** The console routes, grouped by page. */
const routesByPage = [
  [getSession, setUp, signIn, signOut, changePassword],
  [listSessions, endOwnSession, signOutElsewhere],
  [getSecondFactor, beginSecondFactor, confirmSecondFactor, renewRecoveryCodes, removeSecondFactor],
  [getOverview],
  [listProjects, addProject, getProject, editProject, previewGalleryMode, previewLosses],
  [previewThreshold],
  [listKeys, addKey, revokeKeyById, listPermissions],
  [editKey, rotateKeyById, endOverlap, getKeyUsage],
  [listWebhooks, addWebhook, editWebhook, removeWebhook, rotateWebhookSecret, testWebhook],
  [listWebhookDeliveries, redeliverEvent],
  [listActions, listErrors, getPlaygroundSettings],
  [runPlaygroundCall, createPlaygroundSession],
  [listSubjects, getSubject, editSubject, removeSubject, removeFace],
  [subjectsCsv, changeGroups, removeSubjects, importSubjects, mergeIntoSubject, moveFace],
  [getHealth, startHealthCheck, setDistinct, undoMerge],
  [listCroppedFaces, getCrop],
  [listAllGroups, countGroup, removeGroup, changeGroupName],
  [listDeletions, deletionsCsv, checkDeletions],
  [listLog, logCsv, getCall],
  [callsChart, latencyChart, scoresChart, spendChart],
  [getMoney, topUpWallet, allocateBudget, setUnitPrice],
  [listLedger, ledgerCsv, verifyLedger, reconcileLedger],
  [getModels, revertCalibration],
  [getMeasurement, startMeasurement, discardMeasurement, applyMeasurement],
  [
    listTeam,
    countOpenSessions,
    inviteUser,
    resendInvite,
    editUser,
    endSessionsOfUser,
    removeSecondFactorOfUser,
  ],
  [listAudit, listAuditActions, auditCsv],
  [listSessionsOfUser, endSessionOfUser],
  [getSystem, getSystemHistory, downloadSupportBundle],
] as const

/** One type for each route; the types of requests and responses in the browser are derived from it. */
export type ServedRoute = (typeof routesByPage)[number][number]

/** All console routes. */
export const consoleRoutes: readonly ConsoleRoute[] = routesByPage.flatMap(
  (routes: readonly ConsoleRoute[]) => routes,
)
