import { useQueryClient } from '@tanstack/react-query'
import { storeSession } from '../api/session.ts'
import { AuthForm } from './auth-form.tsx'
import { SignInForm } from './sign-in-form.tsx'

/** Signs a user in with name and password. */
export function SignInPage() {
  const client = useQueryClient()
  return (
    <SignInForm name="" onSignedIn={(session) => storeSession(client, session)}>
      {(onSubmit, fields) => (
        <AuthForm
          title="Sign in"
          note="Lost your password? Request a new link from the administrator (facegate console link)."
          onSubmit={onSubmit}
        >
          {fields}
        </AuthForm>
      )}
    </SignInForm>
  )
}
