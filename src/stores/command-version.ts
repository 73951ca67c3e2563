// The version of the command format in the mailbox, so that an older holder can say that it does not understand.

export const commandVersion = 1;
