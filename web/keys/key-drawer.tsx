import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import type { ConsoleKey } from '../api/responses.ts'
import { useApiMutation, useApiQuery } from '../api/use-api.ts'
import { DefinitionList } from '../components/definition-list.tsx'
import { DetailDrawer } from '../components/detail-drawer.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { StatusTag } from '../components/status-tag.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { EditKeyDialog } from './edit-key-dialog.tsx'
import { keyStateTones } from './key-states.ts'
import { KeyUsageTable, type UsageOfKeys } from './key-usage.tsx'
import { presetOf } from './permission-presets.ts'
import { RevokeKeyDialog } from './revoke-key-dialog.tsx'
import { RotateKeyDialog } from './rotate-key-dialog.tsx'

type Props = {
  readonly apiKey: ConsoleKey
  readonly usage: UsageOfKeys
  readonly mayWrite: boolean
  readonly onClose: () => void
}

/** The details, the usage and the changes of a key. */
export function KeyDrawer({ apiKey, usage, mayWrite, onClose }: Props) {
  const permissions = useApiQuery('/permissions')
  const preset = permissions.data && presetOf(apiKey.permissions, permissions.data)
  return (
    <DetailDrawer title={apiKey.name} onClose={onClose}>
      <KeyUsageTable apiKey={apiKey} usage={usage} />
      <Text size="xs" c="dimmed">
        24 hours: the current hour and the 23 before. 30 days: the current hour and the 719 before.
        The cost is that of successful calls.
      </Text>
      <DefinitionList
        items={{
          Status: <StatusTag tone={keyStateTones[apiKey.state]}>{apiKey.state}</StatusTag>,
          Key: (
            <span className="fg-mono">
              {apiKey.prefix}…{apiKey.last4}
            </span>
          ),
          ...formerItems(apiKey),
          'Last used': <UtcTime timestampUtc={apiKey.lastUsedAtUtc} fallback="Never" />,
          Project: apiKey.projectName,
          ...(preset && { Preset: preset.name }),
          Permissions: apiKey.permissions.join(', '),
          Created: <UtcTime timestampUtc={apiKey.createdAtUtc} />,
          Rotated: <UtcTime timestampUtc={apiKey.rotatedAtUtc} fallback="Never" />,
          Expires: <UtcTime timestampUtc={apiKey.expiresAtUtc} fallback="Never" />,
          ...(apiKey.revokedAtUtc && { Revoked: <UtcTime timestampUtc={apiKey.revokedAtUtc} /> }),
          'Key id': <span className="fg-mono">{apiKey.keyId}</span>,
        }}
      />
      <Text size="xs" c="dimmed">
        Last used: updated every 10 seconds while this page is visible. The time is stored at most
        once a minute, so that it can be up to one minute early.
      </Text>
      {mayWrite && apiKey.state !== 'revoked' && <KeyActions apiKey={apiKey} />}
    </DetailDrawer>
  )
}

function formerItems({ formerSecret, revokedAtUtc }: ConsoleKey) {
  if (!formerSecret) return {}
  const { last4, lastUsedAtUtc, isValid } = formerSecret
  // The revocation of a key also ends its former secret.
  const endsAtUtc =
    revokedAtUtc !== null && revokedAtUtc < formerSecret.endsAtUtc
      ? revokedAtUtc
      : formerSecret.endsAtUtc
  return {
    'Former secret': (
      <>
        <span className="fg-mono">…{last4}</span>{' '}
        {isValid && revokedAtUtc === null ? 'is valid until' : 'ended'}{' '}
        <UtcTime timestampUtc={endsAtUtc} />
      </>
    ),
    'Former secret used': (
      <UtcTime timestampUtc={lastUsedAtUtc} fallback="Not since the rotation" />
    ),
  }
}

type DialogName = 'edit' | 'rotate' | 'revoke'
const dialogs = { edit: EditKeyDialog, rotate: RotateKeyDialog, revoke: RevokeKeyDialog }

function KeyActions({ apiKey }: { readonly apiKey: ConsoleKey }) {
  const [open, setOpen] = useState<DialogName>()
  const path = '/keys/:keyId/end-overlap'
  const endOverlap = useApiMutation({ method: 'POST', path })
  const Dialog = open && dialogs[open]
  return (
    <>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={() => setOpen('edit')}>
          Edit
        </Button>
        {apiKey.state === 'active' && (
          <Button size="xs" variant="default" onClick={() => setOpen('rotate')}>
            Rotate
          </Button>
        )}
        {apiKey.formerSecret?.isValid && (
          <Button
            size="xs"
            variant="default"
            loading={endOverlap.isPending}
            onClick={() => endOverlap.mutate({ pathParams: { keyId: apiKey.keyId } })}
          >
            End the former secret now
          </Button>
        )}
        {apiKey.state === 'active' && (
          <Button size="xs" className="fg-danger" onClick={() => setOpen('revoke')}>
            Revoke
          </Button>
        )}
      </Group>
      <ErrorNotice title="Couldn't end the former secret" error={endOverlap.error} />
      {Dialog && <Dialog apiKey={apiKey} onClose={() => setOpen(undefined)} />}
    </>
  )
}
