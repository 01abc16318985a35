# SPDX-License-Identifier: Apache-2.0
# CPack runs this between installing the components, each into a tree of its own, and packing them.
# All is below the prefix then; here goes what Debian expects elsewhere.
set(prefix usr/lib/mlmargin)
set(trees ${CPACK_TEMPORARY_DIRECTORY})
find_program(GZIP gzip REQUIRED)

# run(<command>...)
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# link(<component> <link> <target, relative to the link>)
function(link component name target)
  get_filename_component(folder ${trees}/${component}/${name} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${target} ${trees}/${component}/${name} SYMBOLIC)
endfunction()

# The command, its pages, and the library with a name of our own. Libraries with CANN's names stay
# where set_env.sh alone leads to.
function(lay_out_runtime)
  set(tree ${trees}/runtime)
  link(runtime usr/lib/${CPACK_MLMARGIN_MULTIARCH}/libmlmargin.so
       ../mlmargin/lib64/libmlmargin.so)
  if(EXISTS ${tree}/${prefix}/bin/mlmargin)
    link(runtime usr/bin/mlmargin ../lib/mlmargin/bin/mlmargin)
  endif()
  if(EXISTS ${tree}/${prefix}/share)
    file(RENAME ${tree}/${prefix}/share ${tree}/usr/share)
  endif()
  file(GLOB_RECURSE pages ${tree}/usr/share/man/*)
  foreach(page IN LISTS pages)
    run(${GZIP} -9n ${page})
  endforeach()
endfunction()

# find_package and pkg-config look into the usual places and find the prefix from there.
function(lay_out_development)
  set(tree ${trees}/development)
  foreach(file IN ITEMS mlmarginConfig.cmake mlmarginConfigVersion.cmake)
    file(WRITE ${tree}/usr/share/cmake/mlmargin/${file}
         "include(\${CMAKE_CURRENT_LIST_DIR}/../../../lib/mlmargin/share/cmake/mlmargin/${file})\n")
  endforeach()
  file(GLOB pc_files ${tree}/${prefix}/lib64/pkgconfig/*.pc)
  foreach(pc_file IN LISTS pc_files)
    get_filename_component(name ${pc_file} NAME)
    file(READ ${pc_file} text)
    string(REPLACE "prefix=\${pcfiledir}/../.." "prefix=/${prefix}" text "${text}")
    file(WRITE ${tree}/usr/lib/${CPACK_MLMARGIN_MULTIARCH}/pkgconfig/${name} "${text}")
  endforeach()
endfunction()

# Where Debian's interpreter looks. From there the run path would lead nowhere, and the loader knows
# libmlmargin.so.
function(lay_out_python)
  set(tree ${trees}/python)
  set(package ${tree}/usr/lib/python3/dist-packages/mlmargin)
  file(MAKE_DIRECTORY ${tree}/usr/lib/python3/dist-packages)
  file(RENAME ${tree}/${prefix}/lib64/python/mlmargin ${package})
  file(REMOVE_RECURSE ${tree}/${prefix})
  file(RPATH_REMOVE FILE ${package}/_torch.so)
endfunction()

# add_documents(<component> <package>): what every package of Debian has.
function(add_documents component package)
  set(folder ${trees}/${component}/usr/share/doc/${package})
  file(MAKE_DIRECTORY ${folder})
  configure_file(${CPACK_MLMARGIN_SOURCE_DIR}/cmake/packages/copyright ${folder}/copyright COPYONLY)
  configure_file(${CPACK_MLMARGIN_SOURCE_DIR}/CHANGELOG.md ${folder}/changelog COPYONLY)
  run(${GZIP} -9n ${folder}/changelog)
endfunction()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  cmake_language(CALL lay_out_${component})
  string(TOUPPER ${component} upper)
  add_documents(${component} ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  # Whatever the umask is.
  run(chmod -R u=rwX,go=rX ${trees}/${component})
endforeach()
