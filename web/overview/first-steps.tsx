import { Anchor, List, Text } from '@mantine/core'
import { IconCircle, IconCircleCheckFilled } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Overview } from '../api/responses.ts'
import { LinkButton } from '../components/link-button.tsx'
import { Panel } from '../layout/panel.tsx'

type Step = Overview['firstSteps'][number]['step']

const stepTexts: Readonly<Record<Step, ReactNode>> = {
  secondFactor: (
    <>
      Protect your account with a <StepLink to="/account">second factor</StepLink>.
    </>
  ),
  firstCall: (
    <>
      Send the first call with an <StepLink to="/keys">API key</StepLink>; the{' '}
      <StepLink to="/playground">playground</StepLink> shows it in several languages.
    </>
  ),
  firstSubject: (
    <>
      Enroll the first <StepLink to="/subjects">person</StepLink>, or import a list.
    </>
  ),
  recommendedModels: (
    <>
      Use the recommended models, which detect faster and check liveness.{' '}
      <LinkButton
        to="/models"
        search={{ install: 'recommended' }}
        size="compact-xs"
        variant="default"
      >
        Show the licence and install
      </LinkButton>
    </>
  ),
  backup: (
    <>
      Back up the database: <code>facegate backup --to copy-$(date +%F-%H%M%S).db</code>. Keep{' '}
      <code>master.key</code> in another place: a copy cannot be read without it.
    </>
  ),
}

/** The steps of a new installation with those that are done. It disappears when all are. */
export function FirstSteps({ steps }: { readonly steps: Overview['firstSteps'] }) {
  if (steps.length === 0) return null
  const done = steps.filter(({ isDone }) => isDone).length
  return (
    <Panel title={`First steps: ${done} of ${steps.length} done`}>
      <List spacing="xs" size="sm" center listStyleType="none">
        {steps.map(({ step, isDone }) => (
          <List.Item key={step} icon={<StepIcon isDone={isDone} />}>
            <Text component="span" size="sm" {...(isDone && { c: 'dimmed' })}>
              {stepTexts[step]}
            </Text>
          </List.Item>
        ))}
      </List>
    </Panel>
  )
}

function StepIcon({ isDone }: { readonly isDone: boolean }) {
  return isDone ? (
    <IconCircleCheckFilled size={18} color="var(--fg-ok)" aria-label="done" />
  ) : (
    <IconCircle size={18} aria-label="open" />
  )
}

type StepLinkProps = {
  readonly to: '/account' | '/keys' | '/playground' | '/subjects'
  readonly children: string
}

function StepLink({ to, children }: StepLinkProps) {
  return (
    <Anchor size="sm" underline="always" renderRoot={(props) => <Link {...props} to={to} />}>
      {children}
    </Anchor>
  )
}
