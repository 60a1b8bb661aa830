import { Button, Group } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { CallLogEntry } from '../api/responses.ts'
import { RowCopyButton } from '../lists/row-copy-button.tsx'
import { useHasRole } from '../api/session.ts'

type ActionProps = { readonly children: ReactNode }

const DrawerAction = createLink((props: ActionProps) => (
  <Button component="a" size="xs" variant="default" {...props} />
))

/** A plain link, because a row shows several of them while the pointer is on it. */
const RowAction = createLink(({ children, ...props }: ActionProps) => (
  <a className="fg-row-button" {...props}>
    {children}
  </a>
))

type Props = { readonly call: CallLogEntry }

/** The pages on which the cause of a call is corrected, and its other calls. */
export function CallActions({ call }: Props) {
  return (
    <Group gap="xs">
      <Actions call={call} Action={DrawerAction} />
    </Group>
  )
}

/** The same in a row of the log, and a button that copies the request id. */
export function RowActions({ call }: Props) {
  return (
    <>
      <RowCopyButton label="request id" text={call.requestId} />
      <Actions call={call} Action={RowAction} />
    </>
  )
}

function Actions({ call, Action }: Props & { readonly Action: typeof RowAction }) {
  const mayWrite = useHasRole('admin')
  const { ok, code, nearMiss, projectId, keyId, action } = call
  const needsRemedy = mayWrite && (!ok || nearMiss)
  return (
    <>
      {needsRemedy && code === 'PAYMENT_REQUIRED' && <Action to="/money">Allocate budget</Action>}
      {needsRemedy && code === 'FORBIDDEN' && (
        <Action to="/keys" search={{ key: keyId }}>
          Edit the permissions of the key
        </Action>
      )}
      {needsRemedy && (code === 'RATE_LIMITED' || nearMiss) && (
        <Action to="/projects/$id" params={{ id: projectId }}>
          {nearMiss ? 'Compare thresholds' : 'Raise the limit'}
        </Action>
      )}
      {mayWrite && action.startsWith('svc.') && (
        <Action to="/playground" search={{ action, projectId }}>
          Try in the playground
        </Action>
      )}
      <Action to="/log" search={{ keyId }}>
        Calls of this key
      </Action>
    </>
  )
}
