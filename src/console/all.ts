import { callsChart, latencyChart, scoresChart, spendChart } from './analytics.ts'
import { checkDeletions, deletionsSheet, listDeletions } from './deletions.ts'
import { previewGalleryMode } from './gallery-mode.ts'
import { countGroup, listAllGroups, removeGroup } from './groups.ts'
import { listKeys, listPermissions, mintKey, revoke } from './keys.ts'
import { getCall, listLog, logSheet } from './log.ts'
import { getModels } from './models.ts'
import { ledgerSheet, listLedger, reconcileLedger, verifyLedger } from './money-ledger.ts'
import { allocateBudget, getMoney, setUnitPrice, topUpWallet } from './money.ts'
import { getOverview } from './overview.ts'
import { listActions, listErrors, play } from './playground.ts'
import { addProject, changeProject, getProject, listProjects } from './projects.ts'
import type { ConsoleRoute } from './route.ts'
import { changePassword, getSession, signIn, signOut } from './session.ts'
import { setUp } from './setup.ts'
import { changeSubject, getSubject, listSubjects, removeFace, removeSubject } from './subjects.ts'
import { getSystem } from './system.ts'
import { auditSheet, changeTeam, inviteAgain, inviteUser, listAudit, listTeam } from './team.ts'

/** The routes of the console, page by page. */
const pages: readonly (readonly ConsoleRoute[])[] = [
  [getSession, setUp, signIn, signOut, changePassword],
  [getOverview],
  [listProjects, addProject, getProject, changeProject, previewGalleryMode],
  [listKeys, mintKey, revoke, listPermissions],
  [listActions, listErrors, play],
  [listSubjects, getSubject, changeSubject, removeSubject, removeFace],
  [listAllGroups, countGroup, removeGroup],
  [listDeletions, deletionsSheet, checkDeletions],
  [listLog, logSheet, getCall],
  [callsChart, latencyChart, scoresChart, spendChart],
  [getMoney, topUpWallet, allocateBudget, setUnitPrice],
  [listLedger, ledgerSheet, verifyLedger, reconcileLedger],
  [getModels],
  [listTeam, inviteUser, inviteAgain, changeTeam, listAudit, auditSheet],
  [getSystem],
]

/** Every route of the console. */
export const consoleRoutes: readonly ConsoleRoute[] = pages.flat()
