/**
 * Every audit action in plain words, grouped by its object. The audit log stores the name of an
 * action; pages and lists show its description.
 */
export const auditActions: Readonly<Record<string, string>> = {
  'session.setUp': 'Set a password with a link',
  'session.signIn': 'Signed in',
  'session.signInFailed': 'Sign-in failed',
  'session.signOut': 'Signed out',
  'session.signOutElsewhere': 'Signed out everywhere else',
  'session.end': 'Ended a session',
  'session.changePassword': 'Changed the password',
  'session.changePasswordFailed': 'Password change rejected',
  'session.createSetupLink': 'Created a setup link for an owner',
  'secondFactor.begin': 'Began to add a second factor',
  'secondFactor.enable': 'Turned the second factor on',
  'secondFactor.renewRecoveryCodes': 'Created new recovery codes',
  'secondFactor.remove': 'Turned the second factor off',
  'secondFactor.passwordFailed': 'Change of the second factor rejected',
  'user.invite': 'Invited a user',
  'user.resendInvite': 'Created a new invite link',
  'user.update': 'Changed a user',
  'user.signOut': 'Ended all sessions of a user',
  'user.endSession': 'Ended a session of a user',
  'user.removeSecondFactor': 'Removed the second factor of a user',
  'account.create': 'Created an account',
  'account.move': 'Started to move the account to another database',
  'account.cancelMove': 'Cancelled the move of the account',
  'account.remove': 'Deleted the copy of a moved account',
  'project.create': 'Created a project',
  'project.update': 'Changed a project',
  'key.create': 'Created an API key',
  'key.edit': 'Changed an API key',
  'key.rotate': 'Created a new secret of an API key',
  'key.endOverlap': 'Ended the former secret of an API key',
  'key.revoke': 'Revoked an API key',
  'webhook.create': 'Created a webhook',
  'webhook.edit': 'Changed the events of a webhook',
  'webhook.delete': 'Deleted a webhook',
  'webhook.rotateSecret': 'Created a new signing secret',
  'webhook.test': 'Sent a test event',
  'webhook.redeliver': 'Sent an event again',
  'subject.update': 'Changed a subject',
  'subject.delete': 'Deleted a subject',
  'subject.removeFace': 'Removed a face of a subject',
  'subject.changeGroups': 'Changed the groups of subjects',
  'subject.deleteSeveral': 'Deleted several subjects',
  'subject.import': 'Changed subjects by an imported list',
  'subject.merge': 'Merged two subjects',
  'subject.moveFace': 'Moved a face to another subject',
  'group.rename': 'Renamed a group',
  'group.delete': 'Deleted a group',
  'deletions.replay': 'Repeated exported deletions',
  'money.topUp': 'Added money to the wallet',
  'money.allocate': 'Moved money to or from a budget',
  'money.setPrice': 'Changed a unit price',
  'calibration.measure': 'Started a calibration measurement',
  'calibration.discard': 'Discarded a calibration measurement',
  'calibration.apply': 'Applied a calibration',
  'calibration.revert': 'Returned to the calibration of the model',
  'models.install': 'Installed a model pack',
  'models.use': 'Selected models',
  'models.remove': 'Removed a model pack',
  'models.retire': 'Retired a former recognizer',
  'masterKey.add': 'Added a master key',
  'masterKey.rotate': 'Rotated the master key',
  'database.backup': 'Backed up the database',
  'database.restore': 'Restored a copy of the database',
  'database.migrate': 'Moved the database to PostgreSQL',
  'system.supportBundle': 'Downloaded a support bundle',
  'playground.call': 'Sent a call in the playground',
  'playground.challenge': 'Created a challenge in the playground',
}

/** Describes an audit action. One of another version becomes the words of its name. */
export function describeAuditAction(auditAction: string): string {
  const known = auditActions[auditAction]
  if (known !== undefined) return known
  const words = auditAction
    .replaceAll('.', ': ')
    .replaceAll(/[A-Z]/gu, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}
