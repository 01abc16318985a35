# SPDX-License-Identifier: Apache-2.0
# Makes comments of the public C++ headers ones that Doxygen reads: those before a declaration, those
# behind one, and the one at the head, which is the file's.
NR == 1 { head = 1 }
/^\/\/ SPDX/ { print ""; next }
/^ *\/\/ ----/ { print ""; next }
head && /^\/\// { print (head++ == 1 ? "/// \\file\n" : "") "///" substr($0, 3); next }
/^#/ { head = 0 }
/^ *\/\/( |$)/ { sub(/\/\//, "///"); print; next }
/[;,{}(] +\/\/ / { sub(/\/\/ /, "///< "); print; next }
{ print }
